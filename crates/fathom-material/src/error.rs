//! Errors of reading and searching material.

use std::io;

/// Error of an embedding model.
pub type BoxedEmbedError = Box<dyn std::error::Error + Send + Sync>;

/// The given material cannot be used or searched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MaterialError {
    /// A file or folder named by the user cannot be read.
    #[error("cannot read `{source_name}`")]
    Unreadable {
        source_name: String,
        /// The system's error.
        source: io::Error,
    },
    /// A file named by the user is not text.
    #[error("`{source_name}` is not text")]
    NotText { source_name: String },
    /// A file named by the user is too large.
    #[error("`{source_name}` has more than {bytes_max} bytes")]
    FileTooLarge { source_name: String, bytes_max: u64 },
    /// The folders contain too many files.
    #[error("the material has more than {files_max} files")]
    TooManyFiles { files_max: usize },
    /// All files together are too large.
    #[error("the material has more than {bytes_max} bytes")]
    TooLarge { bytes_max: u64 },
    /// A PDF named by the user cannot be read.
    #[error("cannot read the PDF `{source_name}`: {cause}")]
    BrokenPdf { source_name: String, cause: String },
    /// The embedding model failed.
    #[error("cannot embed the material")]
    Embedding {
        /// The model's error.
        source: BoxedEmbedError,
    },
    /// The embedding model returned invalid vectors.
    #[error("the embedding model returned {what}")]
    BadVectors {
        /// Description of the invalid result.
        what: String,
    },
}

impl MaterialError {
    /// The error's stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "F0701",
            Self::NotText { .. } => "F0702",
            Self::FileTooLarge { .. } => "F0703",
            Self::TooManyFiles { .. } => "F0704",
            Self::TooLarge { .. } => "F0705",
            Self::BrokenPdf { .. } => "F0706",
            Self::Embedding { .. } => "F0707",
            Self::BadVectors { .. } => "F0708",
        }
    }

    /// Advice for the user.
    pub fn hint(&self) -> String {
        match self {
            Self::Unreadable { source_name, .. } => {
                format!("check that `{source_name}` exists and that you have permission to read it")
            }
            Self::NotText { source_name } => {
                format!("leave `{source_name}` out, or provide its text as a file")
            }
            Self::FileTooLarge { .. } => "split the file, or provide the relevant part".to_owned(),
            Self::TooManyFiles { .. } | Self::TooLarge { .. } => {
                "name only the relevant folders".to_owned()
            }
            Self::BrokenPdf { .. } => "provide its text as a file".to_owned(),
            Self::Embedding { .. } | Self::BadVectors { .. } => {
                "run `fathom models pull minilm` to check the embedding model".to_owned()
            }
        }
    }
}
