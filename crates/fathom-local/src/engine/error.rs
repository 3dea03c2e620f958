//! Errors of loading the embedded model.

use std::io;
use std::path::PathBuf;

/// A weights file or this machine cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The file does not exist.
    #[error("no weights found at `{}`", path.display())]
    Missing { path: PathBuf },
    /// The file cannot be read, or is a folder.
    #[error("cannot read the weights `{}`: {source}", path.display())]
    Unreadable {
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file is of another kind.
    #[error("`{}` is not a GGUF file: {cause}", path.display())]
    NotGguf { path: PathBuf, cause: String },
    /// The file starts as a GGUF file and then contradicts itself.
    #[error("the weights `{}` are damaged: {cause}", path.display())]
    Damaged { path: PathBuf, cause: String },
    /// The file is intact, but this build does not support the model.
    #[error("unsupported model in `{}`: {cause}", path.display())]
    Unsupported { path: PathBuf, cause: String },
    /// The engine rejected the file after our own checks passed.
    #[error("the engine rejected the weights `{}`", path.display())]
    Refused { path: PathBuf },
    /// The processor lacks instructions that this build uses.
    #[error("this processor lacks {missing}, which the embedded model needs")]
    Processor {
        /// The names of the missing instruction sets.
        missing: String,
    },
    /// There is not enough memory for the cache.
    #[error("not enough memory for a cache of {cache_tokens} tokens ({cache_bytes} bytes)")]
    NoRoom {
        /// Size in tokens.
        cache_tokens: u64,
        /// Size in bytes.
        cache_bytes: u64,
    },
    /// The engine or its thread did not start.
    #[error("cannot start the engine: {cause}")]
    NotStarted { cause: String },
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

    /// Advice for the user.
    pub fn hint(&self) -> String {
        match self {
            Self::Missing { .. } => "download the weights first, or pass the path of a GGUF file",
            Self::Unreadable { .. } => {
                "check that it is a file and that you have permission to read it"
            }
            Self::NotGguf { .. } => "use a GGUF file, version 2 or 3",
            Self::Damaged { .. } => "download the weights again; the file may be incomplete",
            Self::Unsupported { .. } => {
                "use the weights of a chat model in one GGUF file, such as the default ones"
            }
            Self::Refused { .. } => "download the weights again, or use those of another model",
            Self::Processor { .. } => {
                "use a model on a server (openai/NAME with --base-url, or ollama/NAME)"
            }
            Self::NoRoom { .. } => "free some memory, or use a smaller window or a smaller model",
            Self::NotStarted { .. } => "check the thread and memory limits of this process",
        }
        .to_owned()
    }
}
