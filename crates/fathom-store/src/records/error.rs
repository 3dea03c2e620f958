//! What can go wrong with the records of domains.

use std::path::{Path, PathBuf};

use fathom_core::records::RecordFault;

use crate::error::StoreError;

pub(super) type Result<T> = std::result::Result<T, RecordStoreError>;

/// What the store of records could not do. Nothing was changed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordStoreError {
    /// The file or its key cannot be used.
    #[error("the domains in `{}` cannot be used: {source}", path.display())]
    File {
        path: PathBuf,
        source: StoreError,
    },
    /// A record is not what was written.
    #[error("the record `{record}` is not what was written, or its key is another one")]
    Changed {
        record: String,
    },
    /// A newer Fathom wrote the file.
    #[error("the domains have format {found}; this program knows {known}")]
    NewerFormat {
        /// The format that was found.
        found: u64,
        /// The one that is known.
        known: u64,
    },
    /// A key came with another request than the first time.
    #[error("the request `{key}` was another one before")]
    AnotherRequest {
        key: String,
    },
    /// What a person or an ingestion wanted to keep breaks a rule.
    #[error("the record was not kept: {fault}")]
    Refused {
        /// Which rule, and how.
        fault: RecordFault,
    },
}

impl RecordStoreError {
    /// The code a user can look up.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::File { .. } => "F0931",
            Self::Changed { .. } => "F0932",
            Self::NewerFormat { .. } => "F0933",
            Self::AnotherRequest { .. } => "F0934",
            Self::Refused { .. } => "F0935",
        }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::File { source, .. } => return source.hint_beside_journal(),
            Self::Changed { .. } => "restore `domains.db` and `keys` of the home from one backup",
            Self::NewerFormat { .. } => "use the Fathom that wrote them, or another `--home`",
            Self::AnotherRequest { .. } => "this is a bug worth a report; nothing was changed",
            Self::Refused { .. } => "repair what the rule names, and try again",
        }
        .to_owned()
    }

    pub(super) fn file(path: &Path, source: impl Into<StoreError>) -> Self {
        Self::File {
            path: path.to_owned(),
            source: source.into(),
        }
    }
}

impl From<RecordFault> for RecordStoreError {
    fn from(fault: RecordFault) -> Self {
        Self::Refused { fault }
    }
}
