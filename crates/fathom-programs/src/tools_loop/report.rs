//! Report that a run of `tools` leaves beside its answer.

use serde::{Deserialize, Serialize};

/// Account of how an answer was reached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolsReport {
    /// Turns of the model.
    pub turns: u32,
    /// Calls that could not be made: no such tool, arguments of another form, too many at once.
    pub invalid: u32,
    /// The calls, in their order.
    pub calls: Vec<CallNote>,
}

/// Decision on a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallRuling {
    /// It could not be made.
    Invalid,
    Open,
    /// The governor refused it.
    Refused,
    /// The gateway or a person denied it.
    Denied,
    Allowed,
}

/// Outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    Confirmed,
    Failed,
    /// Unknown whether it took effect.
    Unknown,
}

/// One call of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallNote {
    /// The tool, as the model named it.
    pub tool: String,
    pub arguments: String,
    pub decision: CallRuling,
    /// Outcome, once it was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<CallOutcome>,
    /// Its result, or the reason that there is none, clipped.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub receipt: String,
}
