//! `stages`: plan, refine, act while an observer reads along, verify.
//!
//! A missing plan is asked for again and then put to the council; so is one that its judge does not trust. The observer
//! reads the acting model's stream and stops it in the middle; the third time the risk is high, and the council decides
//! whether the work continues. Commands are effects, one after the other. If the result does not verify, what can be undone
//! is undone, the last first, and everyone is told. The episode ends when every block is delivered, or its delivery
//! cannot be known. A block that a stage has no right to, as an acting model's own `VERIFY:`, is ignored.

mod act;
mod config;
mod deliver;
mod program;
mod prompts;
mod report;
mod run_commands;
mod state;

pub use config::{StageAction, StageRoles, StagesConfig};
pub use program::{NAME, StagesProgram};
pub use report::{BlockNote, CommandFate, CommandNote, StagesReport, VoteNote};
