//! Why the embedded model cannot be had.

use std::io;
use std::path::PathBuf;

/// What is wrong with a weights file, or with this machine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// There is no such file.
    #[error("there are no weights at `{}`", path.display())]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The file cannot be read, or is a folder.
    #[error("cannot read the weights `{}`: {source}", path.display())]
    Unreadable {
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is of another kind.
    #[error("`{}` is no GGUF file: {cause}", path.display())]
    NotGguf {
        path: PathBuf,
        /// How that shows.
        cause: String,
    },
    /// The file begins as a GGUF and does not keep to it.
    #[error("the weights `{}` are damaged: {cause}", path.display())]
    Damaged {
        path: PathBuf,
        /// Where it breaks.
        cause: String,
    },
    /// The file is whole and this build cannot speak with such a model.
    #[error("the model in `{}` cannot be used: {cause}", path.display())]
    Unsupported {
        path: PathBuf,
        /// What it lacks or has too much of.
        cause: String,
    },
    /// The engine turned the file away after our own checks passed.
    #[error("the engine does not accept the weights `{}`", path.display())]
    Refused {
        path: PathBuf,
    },
    /// The processor lacks instructions that this build uses.
    #[error("this processor lacks {missing}, which the embedded model needs")]
    Processor {
        /// The names of the missing instruction sets.
        missing: String,
    },
    /// The working memory for a conversation cannot be had.
    #[error("no room for a cache of {cache_tokens} tokens ({cache_bytes} bytes)")]
    NoRoom {
        /// Tokens it should hold.
        cache_tokens: u64,
        /// What that takes.
        cache_bytes: u64,
    },
    /// The engine or its thread cannot be started.
    #[error("the engine cannot be started: {cause}")]
    NotStarted {
        cause: String,
    },
}

impl EngineError {
    /// The error's stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Missing { .. } => "F0501",
            Self::Unreadable { .. } => "F0502",
            Self::NotGguf { .. } => "F0503",
            Self::Damaged { .. } => "F0504",
            Self::Unsupported { .. } => "F0505",
            Self::Refused { .. } => "F0506",
            Self::Processor { .. } => "F0507",
            Self::NoRoom { .. } => "F0508",
            Self::NotStarted { .. } => "F0509",
        }
    }

    /// What the user may do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Missing { .. } => "pull the weights first, or give the path of a GGUF file",
            Self::Unreadable { .. } => "check that it is a file and that you may read it",
            Self::NotGguf { .. } => "the embedded model takes GGUF files, version 2 or 3",
            Self::Damaged { .. } => "the download may have been cut short: pull the weights again",
            Self::Unsupported { .. } => {
                "use the weights of a chat model in one GGUF file, such as the default ones"
            }
            Self::Refused { .. } => "pull the weights again, or use those of another model",
            Self::Processor { .. } => {
                "use a model on a server (openai/NAME with --base-url, or ollama/NAME)"
            }
            Self::NoRoom { .. } => "free some memory, or take a smaller window or a smaller model",
            Self::NotStarted { .. } => "check the limits on threads and memory of this process",
        }
        .to_owned()
    }
}
