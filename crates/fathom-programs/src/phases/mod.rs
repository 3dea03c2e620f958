//! `phases`: a question goes through phases of thought, each a model call that names the next one. Commands in a reply are
//! carried out, and later phases see their results.
//!
//! The loop ends when a payload names no next phase, an unknown one or one that was visited, and after three times as
//! many iterations as there are phases. A reply without a payload does nothing: its commands are not carried out, and the
//! phase is asked again, which counts as an iteration. The payload is the first JSON object of a reply that is not a
//! command; its words are in `reply`.

mod commands;
mod config;
mod context;
mod end;
mod program;
mod prompts;
mod reply;
pub(crate) mod report;
mod run_commands;

pub use commands::{COMMAND_BYTES_MAX, COMMANDS_MAX};
pub use config::{PHASES_MAX, PhaseSpec, PhasesConfig, SessionEntry, TaskConfig};
pub use program::{FEEDBACK, HISTORY, NAME, PhasesProgram, TASK};
pub use reply::{CommandText, MARK, PhaseReply, read};
pub use report::{
    CommandNote, CommandStatus, PhaseAnswer, PhaseNote, PhaseOutcome, PhaseTrace, PhasesReport,
};
