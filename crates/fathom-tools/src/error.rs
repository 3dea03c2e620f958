//! Errors of a charter's tools, and refusals before anything is sent.

use fathom_core::id::Digest;

use crate::http::address_check::BlockedAddress;

/// All errors of tools.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolsError {
    /// The file is malformed.
    #[error("invalid `tools.toml`: {cause}")]
    Unreadable { cause: String },
    /// An invalid name.
    #[error("invalid tool name `{name}`: {cause}")]
    Name { name: String, cause: &'static str },
    /// An invalid schema.
    #[error("the schema of `{tool}` {cause}")]
    Schema { tool: String, cause: String },
    /// An invalid address.
    #[error("invalid address `{url}`: {cause}")]
    Url { url: String, cause: &'static str },
    /// A placeholder without an argument.
    #[error("placeholder `{{{place}}}` of `{tool}` is not an argument of its schema")]
    Place { tool: String, place: String },
    /// A declaration that contradicts itself or lacks something.
    #[error("`{tool}` {cause}")]
    Declaration {
        /// The tool or server.
        tool: String,
        cause: String,
    },
    /// An address that must not be reached.
    #[error(transparent)]
    Blocked(#[from] BlockedAddress),
    /// A variable with a key is not set.
    #[error("the variable `{name}` is not set")]
    Secret { name: String },
    /// Arguments that do not match the schema.
    #[error("the arguments do not fit the tool: {cause}")]
    Arguments { cause: String },
    /// An argument with a value that is not allowed in its place.
    #[error("the argument `{name}` cannot be used: {cause}")]
    Argument { name: String, cause: &'static str },
    /// An effect of another tool or target.
    #[error("the effect does not belong to tool `{tool}`")]
    Elsewhere {
        /// The tool that was called.
        tool: String,
    },
    /// The HTTP client cannot be made.
    #[error("the HTTP client cannot be made: {cause}")]
    Client { cause: String },
    /// A tool server does not start or does not answer.
    #[error("the tool server `{server}` does not answer: {cause}")]
    Server { server: String, cause: String },
    /// A tool differs from the accepted one.
    #[error("tool `{tool}` changed: pinned as {pinned}, now {found}")]
    Quarantined {
        tool: String,
        pinned: Digest,
        found: Digest,
    },
    /// An unknown tool.
    #[error("there is no tool `{name}`")]
    Unknown { name: String },
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

    /// Advice for the user.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "correct the line; unknown keys are refused",
            Self::Name { .. } => {
                "use up to 64 letters, digits, `_` and `-`, and each name only once"
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
                "add the host to `allow_hosts`, or the address and port to `allow_private`"
            }
            Self::Secret { .. } => "set the variable for the process that runs `fathom`",
            Self::Arguments { .. } | Self::Argument { .. } => {
                "compare the arguments with the tool's schema"
            }
            Self::Elsewhere { .. } => "request the effect again",
            Self::Client { .. } => "install CA certificates on this machine",
            Self::Server { .. } => "run the server's command by hand and read its output",
            Self::Quarantined { .. } => {
                "review the tool's new description, then accept it or leave it blocked"
            }
            Self::Unknown { .. } => "see `tools.toml` for the charter's tools",
        }
    }
}
