//! `direct`: one answer, and where asked for a second episode that judges it.

mod program;

pub use program::{CRITIQUE, DirectConfig, DirectProgram, NAME, PromptMaterial, ReviewRules};
