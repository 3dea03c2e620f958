//! Markers: words at the start of a line with which a model says what the text after them is.
//!
//! `PLAN:`, `EXECUTE:`, `RESPONSE:`, `THOUGHT_SEED:`, `INTERRUPT:` and `VERIFY:` begin a block when they stand at the very
//! start of a line, in capitals, outside a code fence. The rules:
//!
//! - Blanks after a marker are left out, and so is the line end where nothing else follows. All other text is kept as it is;
//!   lines end with LF or CRLF, and a lone CR ends none.
//! - A block goes on to the next marker or to the end of the text.
//! - A thought seed may stand inside another block. It ends with the first blank line after its first word (which is still
//!   its own), at the next marker, or with the text; then the block around it goes on. A seed ends a seed.
//! - Text under no marker is a block of its own kind, [`BlockKind::Unmarked`], and goes where a response goes. White space
//!   before it is left out, so that blank lines alone are no block.
//! - Inside a fence of backticks or tildes nothing is a marker. A fence may also begin right after a marker. One that is
//!   never closed ends with the text.

mod fence;
mod parser;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use fence::{FenceTracker, OpenFence};
pub use parser::{MarkerEvent, MarkerParser, blocks};

/// The purpose of a block in a model's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Marker {
    /// Steps that are planned.
    Plan,
    /// Commands to be run.
    Execute,
    /// Text for the user.
    Response,
    /// An idea for later.
    ThoughtSeed,
    /// The observer's stop.
    Interrupt,
    /// Findings about an action.
    Verify,
}

impl Marker {
    /// Every marker.
    pub const ALL: [Self; 6] = [
        Self::Plan,
        Self::Execute,
        Self::Response,
        Self::ThoughtSeed,
        Self::Interrupt,
        Self::Verify,
    ];

    /// The marker as it stands at the start of a line.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Plan => "PLAN:",
            Self::Execute => "EXECUTE:",
            Self::Response => "RESPONSE:",
            Self::ThoughtSeed => "THOUGHT_SEED:",
            Self::Interrupt => "INTERRUPT:",
            Self::Verify => "VERIFY:",
        }
    }

    /// The marker without its colon, as charters write it.
    pub fn as_str(self) -> &'static str {
        self.prefix().trim_end_matches(':')
    }

    /// The marker of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|marker| marker.as_str() == name)
    }
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The kinds of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlockKind {
    /// Text under no marker.
    Unmarked,
    /// Text under a marker.
    Marked(Marker),
}

impl BlockKind {
    /// Every kind.
    pub const ALL: [Self; 7] = [
        Self::Unmarked,
        Self::Marked(Marker::Plan),
        Self::Marked(Marker::Execute),
        Self::Marked(Marker::Response),
        Self::Marked(Marker::ThoughtSeed),
        Self::Marked(Marker::Interrupt),
        Self::Marked(Marker::Verify),
    ];

    /// The marker whose way the block goes: a user who reads a reply without any marker expects to read it all.
    pub const fn goes_as(self) -> Marker {
        match self {
            Self::Unmarked => Marker::Response,
            Self::Marked(marker) => marker,
        }
    }

    /// The kind in one word, as a block of output carries it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unmarked => "unmarked",
            Self::Marked(Marker::Plan) => "plan",
            Self::Marked(Marker::Execute) => "execute",
            Self::Marked(Marker::Response) => "response",
            Self::Marked(Marker::ThoughtSeed) => "thought_seed",
            Self::Marked(Marker::Interrupt) => "interrupt",
            Self::Marked(Marker::Verify) => "verify",
        }
    }

    /// The kind of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

impl fmt::Display for BlockKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
#[path = "generated_tests.rs"]
mod generated;
