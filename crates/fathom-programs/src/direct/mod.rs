//! `direct`: one question, one answer.
//!
//! A reply that ran into its output cap is continued; where a rubric is given, a critique child judges the answer before it
//! goes out. An answer that does not meet its schema is sent back.

mod config;
mod program;
mod prompts;
mod review;

pub use config::{DirectConfig, PromptMaterial, ReviewRules};
pub use program::{DirectProgram, NAME};
pub use review::CRITIQUE;
