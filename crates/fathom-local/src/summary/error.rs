//! Errors of shortening a text.

use crate::embedding::EmbeddingError;

/// A text cannot be shortened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SummaryError {
    /// Even the shortest sentence is too long.
    #[error(
        "the text cannot be shortened to {tokens_max} tokens: its shortest sentence has {least_tokens}"
    )]
    TargetTooSmall {
        /// Length of the shortest sentence.
        least_tokens: u64,
        /// Maximum length of the summary.
        tokens_max: u32,
    },
    /// The text is longer than the maximum.
    #[error("a text of {bytes} bytes is too long to be shortened; the maximum is {bytes_max}")]
    SourceTooLong { bytes: usize, bytes_max: usize },
    /// The sentences could not be embedded.
    #[error(transparent)]
    Embedding(#[from] EmbeddingError),
}

impl SummaryError {
    /// The error's stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TargetTooSmall { .. } => "F0546",
            Self::SourceTooLong { .. } => "F0547",
            Self::Embedding(error) => error.code(),
        }
    }

    /// Advice for the user.
    pub fn hint(&self) -> String {
        match self {
            Self::TargetTooSmall { least_tokens, .. } => {
                format!("allow {least_tokens} tokens or more, or write shorter sentences")
            }
            Self::SourceTooLong { bytes_max, .. } => {
                format!("pass at most {bytes_max} bytes, or one part at a time")
            }
            Self::Embedding(error) => error.hint(),
        }
    }
}
