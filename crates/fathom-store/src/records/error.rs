//! Errors of the domains' records.

use std::path::{Path, PathBuf};

use fathom_core::domain::records::RecordFault;

use crate::error::StoreError;

pub(super) type RecordsResult<T> = std::result::Result<T, RecordStoreError>;

/// Failure of the record store. Nothing was changed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordStoreError {
    /// The file or its key cannot be used.
    #[error("cannot use the domain records in `{}`: {source}", path.display())]
    File { path: PathBuf, source: StoreError },
    /// A record was altered.
    #[error("record `{record}` was altered, or its key was replaced")]
    Changed { record: String },
    /// A newer Fathom wrote the file.
    #[error("the domain records have format {found}; this version supports {known}")]
    NewerFormat {
        found: u64,
        /// The supported format.
        known: u64,
    },
    /// A key was used before for a different request.
    #[error("request key `{key}` was already used for a different request")]
    AnotherRequest { key: String },
    /// A record by a person or an ingestion breaks a rule.
    #[error("the record was rejected: {fault}")]
    Refused {
        /// The rule, and how it is broken.
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

    /// Advice for the user.
    pub fn hint(&self) -> String {
        match self {
            Self::File { source, .. } => return source.hint_beside_journal(),
            Self::Changed { .. } => "restore `domains.db` and `keys` of the home from one backup",
            Self::NewerFormat { .. } => {
                "use the version of Fathom that wrote them, or another `--home`"
            }
            Self::AnotherRequest { .. } => {
                "this is a bug in Fathom; please report it (nothing was changed)"
            }
            Self::Refused { .. } => "fix the record according to the rule, then retry",
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
