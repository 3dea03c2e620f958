//! Errors of choosing and connecting a model.

use std::io;
use std::path::PathBuf;

/// A model that cannot be used as requested.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelsError {
    /// The part before the slash is not a provider.
    #[error("unknown provider `{provider}` in model `{id}`")]
    UnknownProvider { provider: String, id: String },
    /// The part after the slash is missing.
    #[error("invalid model `{id}`: expected PROVIDER/NAME")]
    NoName { id: String },
    /// The provider requires a key, and there is none.
    #[error("model `{id}` needs a key, but `{variable}` is not set")]
    MissingKey {
        id: String,
        /// The variable that should contain the key.
        variable: String,
    },
    /// The key or its header cannot be sent.
    #[error("the key of model `{id}` cannot be sent in header `{header}`")]
    UnusableKey { id: String, header: String },
    /// The server's address is malformed.
    #[error("invalid server address `{url}`: {cause}")]
    BaseUrl { url: String, cause: String },
    /// The script cannot be read.
    #[error("cannot read the script `{}`", path.display())]
    ScriptUnreadable {
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A line of the script is invalid.
    #[error("{}:{line}: {cause}", path.display())]
    ScriptLine {
        path: PathBuf,
        /// Line number, counted from one.
        line: usize,
        cause: String,
    },
    /// The tokenizer file cannot be used.
    #[error("cannot use the tokenizer `{}`: {cause}", path.display())]
    Tokenizer { path: PathBuf, cause: String },
    /// The embedded model is missing.
    #[error("model `{id}`: this build has no embedded model")]
    NotBuiltIn { id: String },
    /// No HTTP client could be created, usually for lack of root certificates.
    #[error("cannot set up a client for `{endpoint}`: {cause}")]
    Client { endpoint: String, cause: String },
    /// The built-in price list is malformed.
    #[error("the built-in price list is malformed: {cause}")]
    Prices { cause: String },
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

    /// Advice for the user.
    pub fn hint(&self) -> String {
        match self {
            Self::UnknownProvider { .. } | Self::NoName { .. } => {
                "use one of openai/NAME, anthropic/NAME, ollama/NAME, script/FILE".to_owned()
            }
            Self::MissingKey { variable, .. } => {
                format!("set `{variable}`, or name another variable with --api-key-env")
            }
            Self::UnusableKey { .. } => {
                "check the key for line breaks, and the spelling of --api-key-header".to_owned()
            }
            Self::BaseUrl { .. } => {
                "pass an address such as http://127.0.0.1:8000/v1 with --base-url".to_owned()
            }
            Self::ScriptUnreadable { .. } => {
                "`script/FILE` takes a path relative to the current folder".to_owned()
            }
            Self::ScriptLine { .. } => {
                "write each line as a JSON object with `reply` or `error`, and optionally `match`, `usage`, `delay_ms`, `times`"
                    .to_owned()
            }
            Self::Tokenizer { .. } => {
                "use the tokenizer.json that comes with the model's weights".to_owned()
            }
            Self::NotBuiltIn { .. } => {
                "use openai/NAME with --base-url for a local server, or ollama/NAME".to_owned()
            }
            Self::Client { .. } => "install the system's root certificates".to_owned(),
            Self::Prices { .. } => "this is a bug in Fathom; please report it".to_owned(),
        }
    }
}
