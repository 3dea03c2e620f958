//! `stages`: plan, refine, act while an observer reads along, verify.

mod act;
mod config;
mod deliver;
mod program;
mod prompts;
mod report;
mod run_commands;

pub use config::{StageAction, StageRoles, StagesConfig};
pub use program::{NAME, StagesProgram};
pub use report::{BlockNote, CommandFate, CommandNote, StagesReport, VoteNote};
