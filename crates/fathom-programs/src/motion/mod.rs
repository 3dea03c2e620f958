//! `motion`: a proposal is put to the vote of the council's roles.
//!
//! Every message goes on the bus, so the journal shows who voted what, who failed and who fell silent. The deadline counts
//! active time of the episode: a restart silences nobody.

mod config;
mod program;
pub(crate) mod reply;

pub use config::MotionConfig;
pub use program::{MotionProgram, NAME};
