//! Arguments of the commands by which people decide.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use fathom_core::effect::KillScope;

use super::governance::{IdentityCommand, RfcCommand};
use super::value_error::ArgumentValueError;

#[derive(Subcommand, Debug)]
pub(crate) enum PeopleCommand {
    /// List requests of runs that wait for a person's approval
    Approvals {
        /// Include decided, expired and withdrawn requests
        #[arg(long)]
        all: bool,
        /// Show personal data and secrets unmasked, if you may decide here
        #[arg(long)]
        original: bool,
    },
    /// Approve a request once and resume the run (unless `--no-resume`)
    Approve {
        /// Approval ID or a unique prefix
        #[arg(value_name = "ID")]
        id: String,
        /// Reason, recorded with the approval
        #[arg(long, value_name = "TEXT")]
        why: Option<String>,
        #[command(flatten)]
        key: KeyFile,
    },
    /// Deny a request and resume the run (unless `--no-resume`)
    Deny {
        /// Approval ID or a unique prefix
        #[arg(value_name = "ID")]
        id: String,
        /// Reason, recorded with the denial
        #[arg(long, value_name = "TEXT")]
        why: String,
        #[command(flatten)]
        key: KeyFile,
    },
    /// List handoff tickets
    Tickets,
    /// Stop all effects at once, or those of a scope, until lifted
    Kill(KillArgs),
    /// Show, sign and change identities; generate keys
    #[command(subcommand)]
    Identity(IdentityCommand),
    /// Propose, review, vote on and merge changes to charters
    #[command(subcommand)]
    Rfc(RfcCommand),
    /// Allow one more send under an idempotency key already used
    Override {
        /// Idempotency key, as named in the denial of the second send
        #[arg(value_name = "KEY")]
        key: String,
        /// Reason, recorded with the override
        #[arg(long, value_name = "TEXT")]
        why: String,
    },
}

#[derive(Args, Debug)]
pub(crate) struct KeyFile {
    /// Sign with this key file instead of deciding as the system user
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct KillArgs {
    /// What to stop: global, tenant:X, platform:X, account:X or action:X
    #[arg(long, value_name = "SCOPE", default_value = "global", value_parser = scope)]
    pub(crate) scope: KillScope,
    /// Reason, recorded with the switch
    #[arg(long, value_name = "TEXT")]
    pub(crate) why: Option<String>,
    /// Lift the switch and allow effects again
    #[arg(long, conflicts_with = "show")]
    pub(crate) lift: bool,
    /// Show the active switches and change nothing
    #[arg(long, conflicts_with_all = ["scope", "why"])]
    pub(crate) show: bool,
}

/// Reads `global` or `tenant:acme`.
fn scope(text: &str) -> Result<KillScope, ArgumentValueError> {
    let wrong = || ArgumentValueError::Scope;
    if text == "global" {
        return Ok(KillScope::Global);
    }
    let (kind, name) = text.split_once(':').ok_or_else(wrong)?;
    let name = Some(name.trim()).filter(|name| !name.is_empty());
    let name = name.ok_or_else(wrong)?.to_owned();
    match kind {
        "tenant" => Ok(KillScope::Tenant(name)),
        "platform" => Ok(KillScope::Platform(name)),
        "account" => Ok(KillScope::Account(name)),
        "action" => Ok(KillScope::Action(name)),
        _ => Err(wrong()),
    }
}
