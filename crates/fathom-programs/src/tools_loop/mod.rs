//! `tools`: a task that needs looking and doing, worked on in turns of tool calls.

mod calls;
mod config;
mod program;
mod prompts;
mod report;

pub use calls::{ARGUMENTS_BYTES_MAX, CALLS_MAX};
pub use config::{OfferedTool, TURNS_CAP, ToolsConfig};
pub use program::{NAME, ToolsProgram};
pub use report::{CallNote, CallOutcome, CallRuling, ToolsReport};
