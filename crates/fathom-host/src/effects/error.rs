//! Errors of a run's gateway.

use fathom_gateway::GatewayError;
use fathom_store::StoreError;
use fathom_tools::ToolsError;
use fathom_tools::browser::BrowserError;

use crate::charter::{RunCharterError, ToolValueError};
use crate::error::HostError;

/// Reason why a run has no gateway, or why its gateway lets an effect not pass. A denied effect names it as its rule.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunGatewayError {
    /// The charter has no tools.
    #[error("tools.toml")]
    NoTools,
    #[error(transparent)]
    Charter(#[from] RunCharterError),
    #[error(transparent)]
    Policies(#[from] GatewayError),
    #[error(transparent)]
    Values(#[from] ToolValueError),
    #[error(transparent)]
    Tools(#[from] ToolsError),
    #[error(transparent)]
    Browser(#[from] BrowserError),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// People's flags decide, so nothing is decided without them.
    #[error("cannot read the flags: {0}")]
    Flags(Box<HostError>),
    #[error("tool `{tool}` is not available: {why}")]
    ToolUnavailable { tool: String, why: String },
    #[error("`{tool}` changes something, but was requested as read-only")]
    NotReadOnly { tool: String },
    #[error("the target of `{tool}` differs from the one requested")]
    OtherTarget { tool: String },
    #[error("the approval was given to a different request or under different policies")]
    OtherApproval,
}
