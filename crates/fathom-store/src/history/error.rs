//! Errors of a session's history.

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
    /// An invalid session name.
    #[error("invalid session name of {bytes} bytes; expected 1 to {SESSION_BYTES_MAX}")]
    Session { bytes: usize },
    /// Another process has the session open.
    #[error("the session is in use by another run")]
    Owned,
    /// A line is malformed.
    #[error("line {line} of the session's history is malformed")]
    NotARecord { line: u64 },
    /// A line contains a record of another place: one was dropped, added or moved.
    #[error("line {line} of the session's history contains record {found}")]
    Moved {
        line: u64,
        /// Number of the record in it.
        found: u64,
    },
    /// A line was changed, comes from another session, or does not follow the line before it.
    #[error("line {line} of the session's history was altered")]
    Changed { line: u64 },
    /// The end of the file is missing.
    #[error("the session's history ends before line {line}, but had {lines} lines")]
    CutShort {
        /// The first incomplete line.
        line: u64,
        /// Number of lines according to the journal.
        lines: u64,
    },
    /// The last known line differs from the journal's.
    #[error("line {line} of the session's history does not match the journal")]
    OtherHead { line: u64 },
    /// The key of a line is missing.
    #[error("key {key} for line {line} of the session's history is missing")]
    MissingKey {
        line: u64,
        /// Number of the key, counted from one.
        key: u32,
    },
    /// The history is full.
    #[error("history of {bytes} bytes exceeds the maximum of {max}")]
    TooLarge {
        bytes: u64,
        /// Maximum size in bytes.
        max: u64,
    },
    /// An invalid recipient, or none.
    #[error("invalid age recipient `{recipient}`")]
    Recipient {
        /// The given text, but never a secret: see [`super::SessionHistoryStore::export_age`].
        recipient: String,
    },
    /// An export cannot be written.
    #[error("cannot write the export")]
    Export {
        /// The system's error.
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

    /// Advice for the user.
    pub fn hint(&self) -> String {
        match self {
            Self::Store(error) => return error.hint(),
            Self::Session { .. } => "use a short session name, such as `--session demo`",
            Self::Owned => "wait for the other run to finish, or use another session",
            Self::NotARecord { .. }
            | Self::Moved { .. }
            | Self::Changed { .. }
            | Self::CutShort { .. }
            | Self::OtherHead { .. } => {
                "restore `history` in the home from a backup, or continue in another session"
            }
            Self::MissingKey { .. } => "restore the key from a backup of `keys`",
            Self::TooLarge { .. } => "continue in another session",
            Self::Recipient { .. } => {
                "use a recipient that starts with `age1`; `age-keygen -y` prints that of an identity"
            }
            Self::Export { .. } => "check the disk, and that the file is writable",
        }
        .to_owned()
    }
}
