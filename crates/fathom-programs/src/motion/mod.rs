//! `motion`: a proposal is put to the vote of the council's roles.

mod config;
mod program;
pub(crate) mod reply;

pub use config::MotionConfig;
pub use program::{MotionProgram, NAME};
