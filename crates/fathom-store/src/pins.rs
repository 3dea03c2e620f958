//! Pins of tools: a tool's description of itself when it was accepted.

use fathom_core::id::Digest;
use fathom_core::unit::Timestamp;

/// A tool as a charter saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolSighting {
    pub charter: String,
    /// The tool's name, with that of its server.
    pub tool: String,
    /// Digest of its name, description and schema.
    pub digest: Digest,
    pub at: Timestamp,
}

/// A sighting, and its standing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolPin {
    pub seen: ToolSighting,
    pub standing: PinStanding,
}

impl ToolPin {
    /// True if it is about the same tool with the same description.
    pub(crate) fn is_of(&self, seen: &ToolSighting) -> bool {
        self.seen.charter == seen.charter
            && self.seen.tool == seen.tool
            && self.seen.digest == seen.digest
    }
}

/// Permission to use a tool as it was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PinStanding {
    /// It was the first of its name.
    First,
    /// A person accepted it.
    Accepted { by: String, at: Timestamp },
    /// It differs from the accepted one, and no person has accepted it.
    Quarantined,
}

/// Outcome of comparing a tool with its pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PinOutcome {
    /// Unchanged, or new.
    Pinned,
    /// Changed, and blocked until a person accepts it.
    Quarantined {
        /// The accepted digest.
        pinned: Digest,
    },
}

/// Outcome of accepting a changed tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcceptOutcome {
    /// It may be used from now on, and its former version may not.
    Now,
    /// No tool with this digest was ever seen.
    NeverMet,
}
