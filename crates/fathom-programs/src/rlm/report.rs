//! Report that a run of `rlm` leaves beside its answer.

use serde::{Deserialize, Serialize};

use fathom_core::sandbox::CellErrorKind;
use fathom_core::unit::Millis;

/// Account of how an answer was reached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RlmReport {
    /// Turns of the model.
    pub iterations: u32,
    /// Leaf calls that a model was asked.
    pub subcalls: u64,
    /// Leaf calls that were answered with what was said before.
    pub memoised: u64,
    /// Child episodes that were asked for.
    pub children: u64,
    /// The ready-made cells that were used, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recipes: Vec<String>,
    pub cells: Vec<CellNote>,
    /// True if the answer is JSON rather than text.
    pub is_json: bool,
}

/// One cell, without what it said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellNote {
    /// The error that ended the cell early, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<CellErrorKind>,
    /// Bytes of its output.
    pub bytes: u64,
    pub took: Millis,
}
