//! Errors of the channel store.

use std::path::{Path, PathBuf};

use crate::error::StoreError;

pub(super) type ChannelResult<T> = std::result::Result<T, ChannelStoreError>;

/// Failure of the store of deliveries, feeds and seeds. Nothing was changed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChannelStoreError {
    /// The file or a key cannot be used.
    #[error("cannot use the channels in `{}`: {source}", path.display())]
    File { path: PathBuf, source: StoreError },
    /// A newer Fathom wrote the file.
    #[error("the channels have format {found}; this version supports {known}")]
    NewerFormat {
        found: u64,
        /// The supported format.
        known: u64,
    },
}

impl ChannelStoreError {
    /// The code a user can look up.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::File { .. } => "F1030",
            Self::NewerFormat { .. } => "F1031",
        }
    }

    /// Advice for the user.
    pub fn hint(&self) -> String {
        match self {
            Self::File { source, .. } => return source.hint_beside_journal(),
            Self::NewerFormat { .. } => {
                "use the version of Fathom that wrote them, or another `--home`"
            }
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
