//! Why a text cannot be shortened.

use crate::embedding::EmbeddingError;

/// What is in the way of a shorter text.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CannotShorten {
    /// Even the shortest sentence is too long.
    #[error(
        "the text cannot be shortened to {tokens_max} tokens: its shortest sentence has {least_tokens}"
    )]
    TargetTooSmall {
        /// What the shortest sentence has.
        least_tokens: u64,
        /// What was allowed.
        tokens_max: u32,
    },
    /// The text is longer than any that is read.
    #[error("a text of {bytes} bytes is too long to be shortened: {bytes_max} are the most")]
    SourceTooLong {
        /// What it has.
        bytes: usize,
        /// What it may have.
        bytes_max: usize,
    },
    /// The sentences could not be embedded.
    #[error(transparent)]
    Embedding(#[from] EmbeddingError),
}

impl CannotShorten {
    /// The error's stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TargetTooSmall { .. } => "F0546",
            Self::SourceTooLong { .. } => "F0547",
            Self::Embedding(error) => error.code(),
        }
    }

    /// What the user may do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::TargetTooSmall { least_tokens, .. } => {
                format!("allow {least_tokens} tokens or more, or write shorter sentences")
            }
            Self::SourceTooLong { bytes_max, .. } => {
                format!("give at most {bytes_max} bytes, or parts one by one")
            }
            Self::Embedding(error) => error.hint(),
        }
    }
}
