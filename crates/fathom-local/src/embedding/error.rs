//! Errors of the embedding model.

use std::io;
use std::path::PathBuf;

/// The embedding model's files or its input cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbeddingError {
    /// A file cannot be read.
    #[error("cannot read `{}` of the embedding model", path.display())]
    Unreadable {
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file is larger than any file of the model.
    #[error("`{}` has more than {bytes_max} bytes and is not a file of the embedding model", path.display())]
    TooLarge { path: PathBuf, bytes_max: u64 },
    /// The weights are unusable.
    #[error("cannot use the embedding weights `{}`: {cause}", path.display())]
    Weights { path: PathBuf, cause: String },
    /// The tokenizer is unusable.
    #[error("cannot use the embedding tokenizer `{}`: {cause}", path.display())]
    Tokenizer { path: PathBuf, cause: String },
    /// The model could not embed a text.
    #[error("the embedding model failed: {cause}")]
    Failed { cause: String },
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

    /// Advice for the user.
    pub fn hint(&self) -> String {
        match self {
            Self::Unreadable { .. } => {
                "run `fathom models pull minilm`, or check the permissions of the file".to_owned()
            }
            Self::TooLarge { path, .. }
            | Self::Weights { path, .. }
            | Self::Tokenizer { path, .. } => {
                format!("remove `{}` and run `fathom models pull minilm`", path.display())
            }
            Self::Failed { .. } => {
                "run `fathom models pull minilm` to check the weights; if they are intact, please report this bug"
                    .to_owned()
            }
        }
    }
}

/// A defect of the model's files, or a failure of the network. Its text becomes the cause of an [`EmbeddingError`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ModelFault {
    #[error("it ends before its header does")]
    ShortHeader,
    #[error("its header has more than {bytes_max} bytes")]
    LongHeader { bytes_max: usize },
    #[error("its header: {0}")]
    Header(String),
    #[error("it does not end where its last tensor does")]
    WrongEnd,
    #[error("it has no tensor `{0}`")]
    NoTensor(String),
    #[error("tensor `{name}`{cause}")]
    Tensor { name: String, cause: String },
    #[error("the model has no word piece {0}")]
    NoPiece(u32),
    #[error("a text has no word pieces, not even those that mark its ends")]
    NoPieces,
    #[error("a text has {0} word pieces after it was cut")]
    TooManyPieces(usize),
    #[error("the model's numbers have no end")]
    Infinite,
    #[error("it broke the engine: {0}")]
    Panicked(String),
    #[error("{0}")]
    Engine(String),
}

impl ModelFault {
    pub(super) fn engine(error: impl std::fmt::Display) -> Self {
        Self::Engine(error.to_string())
    }
}
