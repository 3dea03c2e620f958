//! Why material cannot be used.

use std::io;

/// What an embedding model said when it failed.
pub type EmbedError = Box<dyn std::error::Error + Send + Sync>;

/// What is wrong with the material that was given, or with what searches it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MaterialError {
    /// A file or folder that the user named cannot be read.
    #[error("cannot read `{source_name}`")]
    Unreadable {
        /// As the user named it.
        source_name: String,
        /// What the system said.
        source: io::Error,
    },
    /// A file that the user named is no text.
    #[error("`{source_name}` is not text")]
    NotText {
        /// As the user named it.
        source_name: String,
    },
    /// A file that the user named is too large.
    #[error("`{source_name}` has more than {bytes_max} bytes")]
    FileTooLarge {
        /// As the user named it.
        source_name: String,
        /// What it may have.
        bytes_max: u64,
    },
    /// The folders hold too many files.
    #[error("the material has more than {files_max} files")]
    TooManyFiles {
        /// How many it may have.
        files_max: usize,
    },
    /// All files together are too large.
    #[error("the material has more than {bytes_max} bytes")]
    TooLarge {
        /// How many it may have.
        bytes_max: u64,
    },
    /// A PDF that the user named cannot be read.
    #[error("cannot read the PDF `{source_name}`: {cause}")]
    BrokenPdf {
        /// As the user named it.
        source_name: String,
        /// What is wrong with it.
        cause: String,
    },
    /// The embedding model failed.
    #[error("cannot embed the material")]
    Embedding {
        /// What it said.
        source: EmbedError,
    },
    /// The embedding model gave something that cannot be compared.
    #[error("the embedding model gave {what}")]
    BadVectors {
        /// What it gave.
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

    /// What the user may do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Unreadable { source_name, .. } => {
                format!("check that `{source_name}` exists and may be read")
            }
            Self::NotText { source_name } => {
                format!("leave `{source_name}` out, or give its text as a file")
            }
            Self::FileTooLarge { .. } => "split the file, or give the part that matters".to_owned(),
            Self::TooManyFiles { .. } | Self::TooLarge { .. } => {
                "name the folders that matter".to_owned()
            }
            Self::BrokenPdf { .. } => "give its text as a file".to_owned(),
            Self::Embedding { .. } | Self::BadVectors { .. } => {
                "run `fathom models pull minilm` to check the embedding model".to_owned()
            }
        }
    }
}
