//! What a run of `phases` leaves beside its answer, and what it tells on its way.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How a loop went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PhasesReport {
    /// The final reply.
    pub reply: String,
    /// The phases in the order in which they were gone through, retries included.
    pub phases: Vec<PhaseNote>,
    /// The commands in the order in which they were stated.
    pub commands: Vec<CommandNote>,
    /// Ids of the symbols that took part, in the order in which they came in.
    pub symbols: Vec<String>,
    /// What each phase answered.
    pub intermediate_responses: Vec<PhaseAnswer>,
    /// What did not go as it should.
    pub warnings: Vec<String>,
}

/// Whether a reply had a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseOutcome {
    /// It had one.
    Ok,
    /// It had none that can be read.
    Unreadable,
    /// No reply came.
    Failed,
}

/// One iteration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseNote {
    /// The phase.
    pub id: String,
    /// The iteration, counted from one.
    pub iteration: u32,
    /// What came of it.
    pub outcome: PhaseOutcome,
    /// The phase that it asked for, as it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_phase: Option<String>,
}

/// What came of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandStatus {
    /// It is not done yet.
    Pending,
    /// It was carried out.
    Ok,
    /// Nobody knows the action.
    UnknownAction,
    /// It could not be read.
    Malformed,
    /// Its arguments are missing or wrong, or the store says that they are not valid.
    Invalid,
    /// It is larger than a command may be.
    TooLarge,
    /// There is nothing of that id.
    NotFound,
    /// It needs an embedding model, and none is there.
    NoEmbeddings,
    /// The store could not be reached, or its answer could not be read.
    Unavailable,
    /// The contract or the budget does not allow it.
    Refused,
    /// The task was not done.
    Failed,
}

/// One command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommandNote {
    /// The action, as it was written.
    pub action: String,
    /// Its arguments, unless they are too long to be told again.
    pub arguments: Map<String, Value>,
    /// What came of it.
    pub status: CommandStatus,
    /// The same in words.
    pub result: String,
    /// The phase that stated it.
    pub phase: String,
    /// The iteration that stated it.
    pub iteration: u32,
}

/// What one phase answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseAnswer {
    /// The phase.
    pub phase: String,
    /// The iteration.
    pub iteration: u32,
    /// The payload, whole; none where there was none, or where it is too long to be told again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Value>,
    /// What was said, where there is no payload; its beginning, where that is long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// What is told on the channel [`fathom_core::channel::delivery::TRACE_CHANNEL`] while the loop is under way: every transition, command and change of the
/// context. It names things and never says what they hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum PhaseTrace {
    /// A phase begins.
    PhaseEntered {
        /// Which one.
        phase: String,
        /// The iteration.
        iteration: u32,
    },
    /// A phase has replied.
    PhaseLeft {
        /// Which one.
        phase: String,
        /// The iteration.
        iteration: u32,
        /// How.
        outcome: PhaseOutcome,
        /// Where the loop goes from here; nothing when it ends.
        next: Option<String>,
    },
    /// A command is done with.
    CommandDone {
        /// The phase that stated it.
        phase: String,
        /// The action, as it was written.
        action: String,
        /// What came of it.
        status: CommandStatus,
    },
    /// The context of later phases changed.
    ContextChanged {
        /// Symbols that came in or changed.
        symbols: Vec<String>,
        /// Symbols that went.
        gone: Vec<String>,
        /// Agents that came in.
        agents: Vec<String>,
    },
}
