//! State of the `stages` program between inputs.

use super::act::ActAttempt;
use super::prompts::PromptStage;
use super::run_commands::{CommandRun, RevertRun};
use fathom_core::id::AskId;

/// Input that the program waits for.
pub(super) enum StageState {
    /// The reply of a stage.
    Speaking(PromptStage, AskId),
    /// The acting model and its observer.
    Acting(ActAttempt),
    Running(CommandRun),
    /// A command that takes another back.
    Reverting(RevertRun),
    /// A vote of the council. When it carries, the model acts.
    Voting(AskId, String),
    Over,
}
