//! Errors between an event and the disk.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fathom_core::id::{Digest, EpisodeId, Epoch, RunId, Seq};
use rusqlite::ErrorCode;

/// Everything the store can fail with.
///
/// It can be cloned, because one failed commit is the answer to everyone who waited for it.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A file or folder cannot be used.
    #[error("cannot {doing} `{}`", path.display())]
    Io {
        /// Operation that failed, such as `create`.
        doing: &'static str,
        path: PathBuf,
        /// The system's error.
        source: Arc<io::Error>,
    },
    /// The database failed for a reason that has no variant of its own.
    #[error("the journal's database failed")]
    Database {
        /// The database's error.
        source: DatabaseCause,
    },
    /// The journal's file cannot be read or written.
    #[error("the journal's file cannot be read or written")]
    Unusable {
        /// The database's error.
        source: DatabaseCause,
    },
    /// There is no room for what was to be written.
    #[error("no space left for the journal")]
    DiskFull,
    /// Stored data that no version of Fathom can have written.
    #[error("the journal is damaged: {what}")]
    Damaged {
        /// Description of the damage.
        what: String,
    },
    /// A newer Fathom wrote the home.
    #[error(
        "the journal has format {found}, written by Fathom {written_by}; this version supports up to {known}"
    )]
    NewerFormat {
        /// The format of the file.
        found: u32,
        /// The newest format this program knows.
        known: u32,
        /// The version that wrote it.
        written_by: String,
    },
    /// A newer Fathom wrote a file beside the journal.
    #[error("`{}` has format {found}; this version supports {known}", path.display())]
    NewerFile {
        path: PathBuf,
        /// The format of the file.
        found: u64,
        /// The one that is known.
        known: u64,
    },
    /// Another process kept the database to itself for too long.
    #[error("the journal is locked by another process")]
    Busy,
    /// The journal was closed, or its writer is gone.
    #[error("the journal is closed")]
    Closed,
    /// There is no such run.
    #[error("run `{run}` not found")]
    UnknownRun { run: RunId },
    /// The run is there already.
    #[error("run `{run}` already exists")]
    RunExists { run: RunId },
    /// Another owner has taken the run over.
    #[error("run `{run}` was taken over by another process: epoch {} instead of {}", current.0, held.0)]
    Fenced {
        run: RunId,
        /// The epoch that wanted to write.
        held: Epoch,
        /// The epoch of the owner.
        current: Epoch,
    },
    /// The run has an owner that works on it.
    #[error("run `{run}` is in use by another process")]
    Owned { run: RunId },
    /// The place in the chain is not the next one, or is taken.
    #[error("record {seq} of episode {episode} in run `{run}` is out of order")]
    OutOfOrder {
        run: RunId,
        episode: EpisodeId,
        /// The place that was asked for.
        seq: Seq,
    },
    /// A record cannot be written as JSON, or read back.
    #[error("malformed record: {what}")]
    NotARecord { what: String },
    /// A text or a record is larger than the store takes.
    #[error("text or record of {bytes} bytes exceeds the maximum of {max}")]
    TooLarge {
        bytes: usize,
        /// Maximum size in bytes.
        max: usize,
    },
    /// A text is still sealed, so it cannot be sealed for another run.
    #[error("a text of the record is still encrypted and cannot be stored again")]
    ClosedText,
    /// A sealed text is not there.
    #[error("text {address} is missing")]
    MissingBlob { address: Digest },
    /// A sealed text is not what was written.
    #[error("text {address} is damaged")]
    DamagedBlob { address: Digest },
    /// The run's key does not open a text.
    #[error("text {address} was sealed with another key")]
    WrongKey { address: Digest },
    /// A key can be read by other users.
    #[error("`{}` is accessible to other users (mode {mode:03o})", path.display())]
    ExposedKey {
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
        /// Required permission bits.
        wanted: u32,
    },
    /// A key file holds no key.
    #[error("`{}` does not contain a key", path.display())]
    DamagedKey { path: PathBuf },
    /// The system gave no random bits.
    #[error("the system random number generator failed")]
    NoRandomness,
}

/// The database's error in its own words.
#[derive(Clone, Debug)]
pub struct DatabaseCause(Arc<rusqlite::Error>);

impl fmt::Display for DatabaseCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for DatabaseCause {}

impl StoreError {
    /// The code a user can look up.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Io { .. } => "F0201",
            Self::Database { .. } => "F0202",
            Self::DiskFull => "F0203",
            Self::Damaged { .. } => "F0204",
            Self::NewerFormat { .. } | Self::NewerFile { .. } => "F0205",
            Self::Busy => "F0206",
            Self::Closed => "F0207",
            Self::UnknownRun { .. } => "F0208",
            Self::RunExists { .. } => "F0209",
            Self::Fenced { .. } => "F0210",
            Self::Owned { .. } => "F0211",
            Self::OutOfOrder { .. } => "F0212",
            Self::NotARecord { .. } => "F0213",
            Self::TooLarge { .. } => "F0214",
            Self::ClosedText => "F0215",
            Self::MissingBlob { .. } => "F0216",
            Self::DamagedBlob { .. } => "F0217",
            Self::WrongKey { .. } => "F0218",
            Self::ExposedKey { .. } => "F0219",
            Self::DamagedKey { .. } => "F0220",
            Self::NoRandomness => "F0221",
            Self::Unusable { .. } => "F0222",
        }
    }

    /// Advice for the user.
    pub fn hint(&self) -> String {
        match self {
            Self::Io { path, .. } => {
                format!(
                    "check that `{}` exists and that you may write to it",
                    path.display()
                )
            }
            Self::Database { .. } => {
                "run `fathom verify`; acknowledged records are not lost".to_owned()
            }
            Self::Unusable { .. } => {
                "check the disk, and that the home is writable and not on a network share"
                    .to_owned()
            }
            Self::DiskFull => {
                "free some space, then run `fathom resume`; acknowledged records are stored"
                    .to_owned()
            }
            Self::Damaged { .. } | Self::MissingBlob { .. } | Self::DamagedBlob { .. } => {
                "run `fathom verify` to see the damage, then restore the home from a backup"
                    .to_owned()
            }
            Self::NewerFormat { written_by, .. } => {
                format!("use Fathom {written_by} or later, or another `--home`")
            }
            Self::NewerFile { .. } => {
                "use the Fathom that wrote it, or another `--home`".to_owned()
            }
            Self::Busy => {
                "close the other process that has the journal open, then retry".to_owned()
            }
            Self::Closed => "run the command again; unfinished runs can be resumed".to_owned(),
            Self::UnknownRun { .. } => "list the runs of this home with `fathom runs`".to_owned(),
            Self::RunExists { .. } => "continue the existing run with `fathom resume`".to_owned(),
            Self::Fenced { .. } => {
                "another process has resumed this run; follow it with `fathom show`".to_owned()
            }
            Self::Owned { .. } => "wait for it, or stop it with `fathom cancel`".to_owned(),
            Self::OutOfOrder { .. } | Self::NotARecord { .. } | Self::ClosedText => {
                "run `fathom verify`; if it reports no problem, please report this bug".to_owned()
            }
            Self::TooLarge { .. } => "split the input into smaller files".to_owned(),
            Self::WrongKey { .. } => "restore the run's key from a backup of `keys`".to_owned(),
            Self::ExposedKey { path, wanted, .. } => {
                format!(
                    "if no other user has read it, run: chmod {wanted:03o} '{}'",
                    path.display()
                )
            }
            Self::DamagedKey { .. } => "restore the key from a backup of `keys`".to_owned(),
            Self::NoRandomness => "check the system's random number generator".to_owned(),
        }
    }

    /// The hint for a file other than the journal.
    pub(crate) fn hint_beside_journal(&self) -> String {
        match self {
            Self::Busy => "close the other process that has the file open, then retry",
            Self::DiskFull => "free some space, then retry",
            Self::Damaged { .. } => "restore the file from a backup",
            Self::ExposedKey { .. } | Self::DamagedKey { .. } => return self.hint(),
            _ => "check the disk, and that the folder is writable and not on a network share",
        }
        .to_owned()
    }

    /// Wraps a system error about a file.
    pub(crate) fn io(doing: &'static str, path: &Path, source: io::Error) -> Self {
        // A quota is a full disk to whoever must make room.
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull,
            _ => Self::Io {
                doing,
                path: path.to_owned(),
                source: Arc::new(source),
            },
        }
    }

    /// Stored data that cannot have been written.
    pub(crate) fn damaged(what: impl Into<String>) -> Self {
        Self::Damaged { what: what.into() }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::DiskFull,
            Some(
                ErrorCode::SystemIoFailure
                | ErrorCode::ReadOnly
                | ErrorCode::CannotOpen
                | ErrorCode::PermissionDenied
                | ErrorCode::FileLockingProtocolFailed,
            ) => Self::Unusable {
                source: DatabaseCause(Arc::new(error)),
            },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::damaged(error.to_string())
            }
            // A column of the wrong type in one of our own tables: not a failure of the database, but not our
            // data either.
            _ => match error {
                rusqlite::Error::FromSqlConversionFailure(..)
                | rusqlite::Error::IntegralValueOutOfRange(..)
                | rusqlite::Error::InvalidColumnType(..)
                | rusqlite::Error::Utf8Error(..) => Self::damaged(error.to_string()),
                error => Self::Database {
                    source: DatabaseCause(Arc::new(error)),
                },
            },
        }
    }
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
