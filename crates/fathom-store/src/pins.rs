//! Pins of tools: what a tool said about itself when it was let in.

use fathom_core::id::Digest;
use fathom_core::unit::Timestamp;

/// A tool as a charter met it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighting {
    pub charter: String,
    /// The tool's name, with that of its server.
    pub tool: String,
    /// Digest of its name, description and schema.
    pub digest: Digest,
    pub at: Timestamp,
}

/// A sighting, and who let it in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// What was met.
    pub seen: Sighting,
    /// How it stands.
    pub standing: Standing,
}

impl Pin {
    /// Whether it is about the same tool, as it was met.
    pub(crate) fn is_of(&self, seen: &Sighting) -> bool {
        self.seen.charter == seen.charter
            && self.seen.tool == seen.tool
            && self.seen.digest == seen.digest
    }
}

/// Whether a tool may be used as it was met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It was the first of its name.
    First,
    /// A person let it in.
    Accepted {
        by: String,
        at: Timestamp,
    },
    /// It differs from what was let in, and nobody has said yes.
    Quarantined,
}

/// Whether a tool is what it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PinOutcome {
    /// It is, or it is new.
    Pinned,
    /// It is not, and stays out until a person accepts it.
    Quarantined {
        /// What it was.
        pinned: Digest,
    },
}

/// What accepting a changed tool did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepted {
    /// It may be used from now on, and what it was before may not.
    Now,
    /// It was never met like this.
    NeverMet,
}
