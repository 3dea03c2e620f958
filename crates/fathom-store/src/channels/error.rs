//! What can go wrong with what is kept of channels.

use std::path::{Path, PathBuf};

use crate::error::StoreError;

pub(super) type Result<T> = std::result::Result<T, ChannelStoreError>;

/// What the store of deliveries, feeds and seeds could not do. Nothing was changed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChannelStoreError {
    /// The file or a key cannot be used.
    #[error("the channels in `{}` cannot be used: {source}", path.display())]
    File {
        path: PathBuf,
        source: StoreError,
    },
    /// A newer Fathom wrote the file.
    #[error("the channels have format {found}; this program knows {known}")]
    NewerFormat {
        /// The format that was found.
        found: u64,
        /// The one that is known.
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

    /// What the user can do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::File { source, .. } => return source.hint_beside_journal(),
            Self::NewerFormat { .. } => "use the Fathom that wrote them, or another `--home`",
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
