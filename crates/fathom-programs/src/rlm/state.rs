//! State of the `rlm` program between inputs.

use fathom_core::id::AskId;

/// Input that the program waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RlmState {
    Turn(AskId),
    Cell(AskId),
}

impl RlmState {
    /// True if `wanted` is the ask that is awaited.
    pub(super) fn is_for(self, wanted: AskId) -> bool {
        match self {
            Self::Turn(ask) | Self::Cell(ask) => ask == wanted,
        }
    }
}
