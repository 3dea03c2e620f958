//! Report that a run of `phases` leaves beside its answer, and the trace it emits on its way.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Account of a loop.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PhasesReport {
    pub reply: String,
    /// The phases in the order in which they were gone through, retries included.
    pub phases: Vec<PhaseNote>,
    /// The commands in the order in which they were stated.
    pub commands: Vec<CommandNote>,
    /// Ids of the symbols that took part, in the order in which they came in.
    pub symbols: Vec<String>,
    /// Answer of each phase.
    pub intermediate_responses: Vec<PhaseAnswer>,
    /// Irregularities of the loop.
    pub warnings: Vec<String>,
}

/// Payload state of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseOutcome {
    Ok,
    /// It had none that can be read.
    Unreadable,
    Failed,
}

/// One iteration of the loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseNote {
    pub id: String,
    /// The iteration, counted from one.
    pub iteration: u32,
    pub outcome: PhaseOutcome,
    /// The phase that it asked for, as it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_phase: Option<String>,
}

/// Outcome of a command.
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

/// One command of a reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommandNote {
    /// The action, as it was written.
    pub action: String,
    /// Its arguments, unless they are too long to be told again.
    pub arguments: Map<String, Value>,
    pub status: CommandStatus,
    /// The same in words.
    pub result: String,
    /// The phase that stated it.
    pub phase: String,
    /// The iteration that stated it.
    pub iteration: u32,
}

/// Answer of one phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseAnswer {
    pub phase: String,
    pub iteration: u32,
    /// The payload, whole; none where there was none, or where it is too long to be told again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Value>,
    /// Text of a reply without payload; its beginning if it is long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Trace entry on [`fathom_core::channel::delivery::TRACE_CHANNEL`] while the loop runs: a transition, a command or a
/// change of the context. It names things and never quotes their content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum PhaseTrace {
    PhaseEntered {
        phase: String,
        iteration: u32,
    },
    /// A phase has replied.
    PhaseLeft {
        phase: String,
        iteration: u32,
        outcome: PhaseOutcome,
        /// The next phase; `None` at the end.
        next: Option<String>,
    },
    /// A command is done with.
    CommandDone {
        /// The phase that stated it.
        phase: String,
        /// The action, as it was written.
        action: String,
        status: CommandStatus,
    },
    /// The context of later phases changed.
    ContextChanged {
        /// Symbols that came in or changed.
        symbols: Vec<String>,
        /// Symbols that were dropped.
        gone: Vec<String>,
        /// Agents that came in.
        agents: Vec<String>,
    },
}
