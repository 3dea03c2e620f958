//! Why a model cannot be had at all.

use std::io;
use std::path::PathBuf;

/// What is wrong with a model as it was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelsError {
    /// The part before the slash is no provider.
    #[error("unknown provider `{provider}` in model `{id}`")]
    UnknownProvider {
        /// What was given.
        provider: String,
        /// The whole name.
        id: String,
    },
    /// There is nothing after the slash, or no slash.
    #[error("model `{id}` names no model: it should be PROVIDER/NAME")]
    NoName {
        /// What was given.
        id: String,
    },
    /// The provider wants a key and there is none.
    #[error("model `{id}` needs a key and `{variable}` is not set")]
    MissingKey {
        id: String,
        /// The variable that should hold the key.
        variable: String,
    },
    /// The key or its header cannot be sent.
    #[error("the key of model `{id}` cannot go into header `{header}`")]
    UnusableKey {
        id: String,
        header: String,
    },
    /// The server's address is no address.
    #[error("`{url}` is no server address: {cause}")]
    BaseUrl {
        /// What was given.
        url: String,
        /// What is wrong with it.
        cause: String,
    },
    /// The script cannot be read.
    #[error("cannot read the script `{}`", path.display())]
    ScriptUnreadable {
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A line of the script is not as it should be.
    #[error("{}:{line}: {cause}", path.display())]
    ScriptLine {
        path: PathBuf,
        /// The line, counted from one.
        line: usize,
        cause: String,
    },
    /// The tokenizer file cannot be used.
    #[error("cannot use the tokenizer `{}`: {cause}", path.display())]
    Tokenizer {
        path: PathBuf,
        cause: String,
    },
    /// The embedded model is not there.
    #[error("model `{id}`: the embedded model is not part of this build yet")]
    NotBuiltIn {
        id: String,
    },
    /// No HTTP client can be made, for want of root certificates as a rule.
    #[error("no connection can be made to `{endpoint}`: {cause}")]
    Client {
        endpoint: String,
        cause: String,
    },
    /// The built-in price list is broken.
    #[error("the built-in price list cannot be read: {cause}")]
    Prices {
        cause: String,
    },
}

impl ModelsError {
    /// The error's stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownProvider { .. } => "F0301",
            Self::MissingKey { .. } => "F0302",
            Self::ScriptUnreadable { .. } => "F0303",
            Self::ScriptLine { .. } => "F0304",
            Self::BaseUrl { .. } => "F0305",
            Self::NoName { .. } => "F0306",
            Self::NotBuiltIn { .. } => "F0307",
            Self::Tokenizer { .. } => "F0308",
            Self::UnusableKey { .. } => "F0309",
            Self::Client { .. } => "F0310",
            Self::Prices { .. } => "F0311",
        }
    }

    /// What the user may do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::UnknownProvider { .. } | Self::NoName { .. } => {
                "use one of openai/NAME, anthropic/NAME, ollama/NAME, script/FILE".to_owned()
            }
            Self::MissingKey { variable, .. } => {
                format!("set `{variable}`, or name another variable with --api-key-env")
            }
            Self::UnusableKey { .. } => {
                "check the key for line breaks and --api-key-header for its spelling".to_owned()
            }
            Self::BaseUrl { .. } => {
                "give an address such as http://127.0.0.1:8000/v1 with --base-url".to_owned()
            }
            Self::ScriptUnreadable { .. } => {
                "script/FILE takes a path as seen from the current folder".to_owned()
            }
            Self::ScriptLine { .. } => {
                "each line is a JSON object with `reply` or `error`, and optionally `match`, `usage`, `delay_ms`, `times`"
                    .to_owned()
            }
            Self::Tokenizer { .. } => {
                "give the tokenizer.json that comes with the model's weights".to_owned()
            }
            Self::NotBuiltIn { .. } => {
                "use openai/NAME with --base-url for a local server, or ollama/NAME".to_owned()
            }
            Self::Client { .. } => "check that the system has its root certificates".to_owned(),
            Self::Prices { .. } => "this is a fault of the program: please report it".to_owned(),
        }
    }
}
