//! Vocabulary of sessions: conversations that are kept across runs.

use serde::{Deserialize, Serialize};

/// The origin of one entry in a session's history.
// The histories of every home hold these names, so a variant is added, never renamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionSpeaker {
    /// The person who asked.
    User,
    /// The loop, reporting a command that it carried out.
    Note,
    /// The model, at the end of a loop.
    Reply,
    /// The record of a loop's commands, as JSON. It is never shown to a model.
    Commands,
}
