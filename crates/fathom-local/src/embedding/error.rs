//! Why texts cannot be embedded.

use std::io;
use std::path::PathBuf;

/// What is wrong with the embedding model's files, or with what it was given.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbeddingError {
    /// A file cannot be read.
    #[error("cannot read `{}` of the embedding model", path.display())]
    Unreadable {
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file is larger than any that could be meant.
    #[error("`{}` has more than {bytes_max} bytes and is no file of the embedding model", path.display())]
    TooLarge {
        path: PathBuf,
        /// What it may have.
        bytes_max: u64,
    },
    /// The weights cannot be used.
    #[error("cannot use the embedding weights `{}`: {cause}", path.display())]
    Weights {
        path: PathBuf,
        cause: String,
    },
    /// The tokenizer cannot be used.
    #[error("cannot use the embedding tokenizer `{}`: {cause}", path.display())]
    Tokenizer {
        path: PathBuf,
        cause: String,
    },
    /// The model could not embed a text.
    #[error("the embedding model failed: {cause}")]
    Failed {
        cause: String,
    },
}

impl EmbeddingError {
    /// The error's stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "F0541",
            Self::TooLarge { .. } => "F0542",
            Self::Weights { .. } => "F0543",
            Self::Tokenizer { .. } => "F0544",
            Self::Failed { .. } => "F0545",
        }
    }

    /// What the user may do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Unreadable { .. } => {
                "run `fathom models pull minilm`, or check that the file may be read".to_owned()
            }
            Self::TooLarge { path, .. }
            | Self::Weights { path, .. }
            | Self::Tokenizer { path, .. } => {
                format!("remove `{}` and run `fathom models pull minilm`", path.display())
            }
            Self::Failed { .. } => {
                "run `fathom models pull minilm` to check the weights; if they are whole, report this"
                    .to_owned()
            }
        }
    }
}
