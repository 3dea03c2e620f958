//! What can go wrong with the history of a session.

use std::io;

use super::SESSION_BYTES_MAX;
use crate::error::StoreError;

/// Everything the history of a session can fail with. Lines are counted from one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// A file or a key cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The name of the session cannot be one.
    #[error("a session's name has 1 to {SESSION_BYTES_MAX} bytes, this one has {bytes}")]
    Session {
        /// How long it is.
        bytes: usize,
    },
    /// Somebody else has the session.
    #[error("the session is being used by another run")]
    Owned,
    /// A line is nothing that was ever written.
    #[error("line {line} of the session's history is not a record")]
    NotARecord {
        line: u64,
    },
    /// A line holds a record that belongs elsewhere: one was dropped, added or moved.
    #[error("line {line} of the session's history holds record {found}")]
    Moved {
        line: u64,
        /// The record that it says it holds.
        found: u64,
    },
    /// A line was changed, comes from another session, or does not follow the line before it.
    #[error("line {line} of the session's history is not what was written there")]
    Changed {
        line: u64,
    },
    /// The end of the file is missing.
    #[error("the session's history ends before line {line}, and there were {lines}")]
    CutShort {
        /// The first line that is not whole.
        line: u64,
        /// How many there were, as far as the journal knows.
        lines: u64,
    },
    /// The line that the journal remembers is another one.
    #[error("line {line} of the session's history is not the one that the journal knows")]
    OtherHead {
        line: u64,
    },
    /// The key of a line is not there.
    #[error("the key {key} of line {line} of the session's history is missing")]
    MissingKey {
        line: u64,
        /// Its key, counted from one.
        key: u32,
    },
    /// There is no room for more.
    #[error("{bytes} bytes of history, the limit is {max}")]
    TooLarge {
        /// How large it is.
        bytes: u64,
        /// How large it may be.
        max: u64,
    },
    /// Nobody can be meant by a recipient, or there is none.
    #[error("`{recipient}` is not a recipient of age")]
    Recipient {
        /// What was given, and never a secret: see [`super::History::export_age`].
        recipient: String,
    },
    /// An export cannot be written.
    #[error("the export cannot be written")]
    Export {
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

impl HistoryError {
    /// The code a user can look up.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Store(error) => error.code(),
            Self::Session { .. } => "F0920",
            Self::Owned => "F0921",
            Self::NotARecord { .. } => "F0922",
            Self::Moved { .. } => "F0923",
            Self::Changed { .. } => "F0924",
            Self::CutShort { .. } => "F0925",
            Self::OtherHead { .. } => "F0926",
            Self::MissingKey { .. } => "F0927",
            Self::TooLarge { .. } => "F0928",
            Self::Recipient { .. } => "F0929",
            Self::Export { .. } => "F0930",
        }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Store(error) => return error.hint(),
            Self::Session { .. } => "give the session a short name, as `--session demo`",
            Self::Owned => "wait until the other run has ended, or use another session",
            Self::NotARecord { .. }
            | Self::Moved { .. }
            | Self::Changed { .. }
            | Self::CutShort { .. }
            | Self::OtherHead { .. } => {
                "restore the home's `history` from a backup, or go on in another session"
            }
            Self::MissingKey { .. } => "put the key back from a backup of `keys`",
            Self::TooLarge { .. } => "go on in another session",
            Self::Recipient { .. } => {
                "a recipient begins with `age1`; `age-keygen -y` shows the one of an identity"
            }
            Self::Export { .. } => "check the disk, and that the file is yours to write",
        }
        .to_owned()
    }
}
