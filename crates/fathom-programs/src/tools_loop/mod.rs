//! `tools`: a task that needs looking and doing, in a bounded loop.
//!
//! The model asks for calls of tools. Each call is an effect that the governor and the gateway decide about, and its
//! result goes back to the model as data, never as instructions.

mod calls;
mod config;
mod program;
mod prompts;
mod report;

pub use calls::{ARGUMENTS_BYTES_MAX, CALLS_MAX};
pub use config::{OfferedTool, TURNS_CAP, ToolsConfig};
pub use program::{NAME, ToolsProgram};
pub use report::{CallNote, CallOutcome, CallRuling, ToolsReport};
