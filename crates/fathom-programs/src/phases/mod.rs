//! `phases`: a question goes through phases of thought, each a model call that names the next one.

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
