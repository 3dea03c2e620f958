//! What is typed where people decide.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use fathom_core::effect::KillScope;

use super::governance::{IdentityCommand, RfcCommand};

#[derive(Subcommand, Debug)]
pub(crate) enum PeopleCommand {
    /// Show what runs ask of people before they act
    Approvals {
        /// Also what was decided, has expired or is not asked any more
        #[arg(long)]
        all: bool,
        /// Personal data and secrets too, for those who may decide here
        #[arg(long)]
        original: bool,
    },
    /// Say yes to what a run asks, once, and go on with the run unless `--no-resume`
    Approve {
        /// The approval's id, or enough of its beginning
        #[arg(value_name = "ID")]
        id: String,
        /// Why, for the record
        #[arg(long, value_name = "TEXT")]
        why: Option<String>,
        #[command(flatten)]
        key: KeyFile,
    },
    /// Say no to what a run asks, and go on with the run unless `--no-resume`
    Deny {
        /// The approval's id, or enough of its beginning
        #[arg(value_name = "ID")]
        id: String,
        /// Why, for the record
        #[arg(long, value_name = "TEXT")]
        why: String,
        #[command(flatten)]
        key: KeyFile,
    },
    /// Show what runs left to people
    Tickets,
    /// Stop all effects, or those of a scope, at once and until a person lifts it
    Kill(Kill),
    /// Identities: show one, sign it, propose a change of it; make a key
    #[command(subcommand)]
    Identity(IdentityCommand),
    /// Changes of charters: propose, review, vote, merge
    #[command(subcommand)]
    Rfc(RfcCommand),
    /// Give leave for one more send under a key that was used
    Override {
        /// The key, as the denial of the second send names it
        #[arg(value_name = "KEY")]
        key: String,
        /// Why, for the record
        #[arg(long, value_name = "TEXT")]
        why: String,
    },
}

#[derive(Args, Debug)]
pub(crate) struct KeyFile {
    /// Sign with the key in this file instead of deciding as the user of the system
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct Kill {
    /// How far it reaches: global, tenant:X, platform:X, account:X or action:X
    #[arg(long, value_name = "SCOPE", default_value = "global", value_parser = scope)]
    pub(crate) scope: KillScope,
    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    pub(crate) why: Option<String>,
    /// Lift it, so that effects may happen again
    #[arg(long, conflicts_with = "show")]
    pub(crate) lift: bool,
    /// Change nothing, only tell how it stands
    #[arg(long, conflicts_with_all = ["scope", "why"])]
    pub(crate) show: bool,
}

/// Reads `global` or `tenant:acme`.
fn scope(text: &str) -> Result<KillScope, String> {
    let wrong = || "it is global, tenant:X, platform:X, account:X or action:X".to_owned();
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
