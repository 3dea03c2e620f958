//! What can be wrong with a charter's tools, and why a tool refuses before anything is sent.

use fathom_core::id::Digest;

use crate::http::address::Blocked;

/// Everything that tools can fail with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolsError {
    /// The file cannot be read.
    #[error("`tools.toml` cannot be read: {cause}")]
    Unreadable {
        /// What the reader said.
        cause: String,
    },
    /// A name that cannot be used.
    #[error("the name `{name}` {cause}")]
    Name {
        name: String,
        /// What is wrong with it.
        cause: &'static str,
    },
    /// A schema that cannot be used.
    #[error("the schema of `{tool}` {cause}")]
    Schema {
        tool: String,
        /// What is wrong with it.
        cause: String,
    },
    /// An address that cannot be meant.
    #[error("the address `{url}` cannot be used: {cause}")]
    Url {
        /// The address as it was written.
        url: String,
        /// What is wrong with it.
        cause: &'static str,
    },
    /// A placeholder that no argument fills.
    #[error("`{{{place}}}` of `{tool}` is no argument of its schema")]
    Place {
        tool: String,
        place: String,
    },
    /// A declaration that contradicts itself or lacks something.
    #[error("`{tool}` {cause}")]
    Declaration {
        /// The tool or server.
        tool: String,
        /// What is wrong with it.
        cause: String,
    },
    /// An address that nobody may reach.
    #[error(transparent)]
    Blocked(#[from] Blocked),
    /// A key that is not there.
    #[error("the variable `{name}` is not set")]
    Secret {
        name: String,
    },
    /// Arguments that the tool does not take.
    #[error("the arguments do not fit the tool: {cause}")]
    Arguments {
        cause: String,
    },
    /// One argument that cannot be put where it belongs.
    #[error("the argument `{name}` cannot be used: {cause}")]
    Argument {
        name: String,
        cause: &'static str,
    },
    /// An effect that belongs to another tool or lands somewhere else.
    #[error("the effect is not one of `{tool}`")]
    Elsewhere {
        /// The tool that was asked.
        tool: String,
    },
    /// The HTTP client cannot be made.
    #[error("the HTTP client cannot be made: {cause}")]
    Client {
        cause: String,
    },
    /// A tool server does not start, or cannot be reached.
    #[error("the tool server `{server}` does not answer: {cause}")]
    Server {
        server: String,
        cause: String,
    },
    /// A tool is not what a person accepted.
    #[error("the tool `{tool}` changed: accepted as {pinned}, and is now {found}")]
    Quarantined {
        tool: String,
        /// What was accepted.
        pinned: Digest,
        /// What it is now.
        found: Digest,
    },
    /// There is no such tool.
    #[error("there is no tool `{name}`")]
    Unknown {
        name: String,
    },
}

impl ToolsError {
    /// The code of the error's page.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "F0960",
            Self::Name { .. } => "F0961",
            Self::Schema { .. } => "F0962",
            Self::Url { .. } => "F0963",
            Self::Place { .. } => "F0964",
            Self::Declaration { .. } => "F0965",
            Self::Blocked(_) => "F0966",
            Self::Secret { .. } => "F0967",
            Self::Arguments { .. } | Self::Argument { .. } => "F0968",
            Self::Elsewhere { .. } => "F0969",
            Self::Client { .. } => "F0970",
            Self::Server { .. } => "F0971",
            Self::Quarantined { .. } => "F0972",
            Self::Unknown { .. } => "F0973",
        }
    }

    /// What to do about it.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "correct the line; keys that nobody knows are refused",
            Self::Name { .. } => {
                "a name has up to 64 letters, digits, `_` and `-`, and stands once in the file"
            }
            Self::Schema { .. } => "write a JSON schema whose `type` is `object`",
            Self::Url { .. } => {
                "write `https://host/path?name={argument}`, with a host that no argument changes"
            }
            Self::Place { .. } => {
                "add the argument to the schema's `properties`, or correct the name"
            }
            Self::Declaration { .. } => "correct the entry in `tools.toml`",
            Self::Blocked(_) => {
                "name the host in `allow_hosts`, or the address and port in `allow_private`"
            }
            Self::Secret { .. } => "set the variable for the process that runs `fathom`",
            Self::Arguments { .. } | Self::Argument { .. } => {
                "compare the arguments with the tool's schema"
            }
            Self::Elsewhere { .. } => "take target and name from the tool's own facts",
            Self::Client { .. } => "check the certificates of this machine",
            Self::Server { .. } => "start the server's command by hand and see what it says",
            Self::Quarantined { .. } => "look at what the tool says now, and accept it or leave it",
            Self::Unknown { .. } => "see `tools.toml` for what the charter has",
        }
    }
}
