//! What a run of `tools` leaves beside its answer.

use serde::{Deserialize, Serialize};

/// How an answer was come by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolsReport {
    /// Turns of the model.
    pub turns: u32,
    /// Calls that could not be made: no such tool, arguments of another form, too many at once.
    pub invalid: u32,
    /// The calls, in their order.
    pub calls: Vec<CallNote>,
}

/// What was said to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallRuling {
    /// It could not be made.
    Invalid,
    /// Nothing yet.
    Open,
    /// The governor refused it.
    Refused,
    /// The gateway or a person denied it.
    Denied,
    /// It went out.
    Allowed,
}

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    /// It happened.
    Confirmed,
    /// It did not.
    Failed,
    /// Nobody knows.
    Unknown,
}

/// One call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallNote {
    /// The tool, as the model named it.
    pub tool: String,
    /// Its arguments, clipped.
    pub arguments: String,
    /// What was said to it.
    pub decision: CallRuling,
    /// What became of it, once it went out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<CallOutcome>,
    /// What came back, or why nothing did, clipped.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub receipt: String,
}
