//! Arguments of the commands for identities and changes of charters.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use fathom_core::council_bus::MotionVote;

use super::value_error::ArgumentValueError;

#[derive(Subcommand, Debug)]
pub(crate) enum IdentityCommand {
    /// Show a charter's identity, its signature and history, and the stack's stability
    Show {
        /// Built-in charter, charter in the data folder, or path [default: `--charter`]
        #[arg(value_name = "NAME|DIR")]
        which: Option<String>,
    },
    /// Sign a charter's identity as its creator
    Sign {
        /// Charter in the data folder, or a path
        #[arg(value_name = "NAME|DIR")]
        which: String,
        /// File with the creator's key
        #[arg(long, value_name = "FILE")]
        key: PathBuf,
        /// File with Prime's key, for an emergency change
        #[arg(long, value_name = "FILE", requires = "reason")]
        prime_key: Option<PathBuf>,
        /// Why the change cannot wait; recorded
        #[arg(long, value_name = "TEXT", requires = "prime_key")]
        reason: Option<String>,
    },
    /// Propose an identity change for the council to vote on
    Propose {
        /// Folder with the changed charter; it is not modified
        #[arg(value_name = "DIR")]
        dir: PathBuf,
        /// File with the creator's key
        #[arg(long, value_name = "FILE")]
        key: PathBuf,
        #[command(flatten)]
        about: ProposalArgs,
    },
    /// Generate a key file and print the public key
    Keygen {
        /// File to create; it must not exist
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

#[derive(Args, Debug)]
pub(crate) struct ProposalArgs {
    /// Charter to replace: a name in the data folder or a path [default: the one of the same name]
    #[arg(long, value_name = "NAME|DIR")]
    pub(crate) onto: Option<String>,
    /// Reason, shown to the voters
    #[arg(long, value_name = "TEXT")]
    pub(crate) why: String,
}

#[derive(Subcommand, Debug)]
pub(crate) enum RfcCommand {
    /// Propose replacing a charter with the one in a folder
    Propose {
        /// Folder with the changed charter
        #[arg(value_name = "DIR")]
        dir: PathBuf,
        #[command(flatten)]
        about: ProposalArgs,
    },
    /// Review a proposal as the role that holds the key
    Review {
        #[command(flatten)]
        rfc: RfcName,
        /// File with the role's key
        #[arg(long, value_name = "FILE")]
        key: PathBuf,
        /// Text of the review
        #[arg(long, value_name = "TEXT")]
        text: String,
    },
    /// Vote on a proposal as the role that holds the key
    Vote {
        #[command(flatten)]
        rfc: RfcName,
        /// yes, no or abstain
        #[arg(value_name = "VOTE", value_parser = ballot)]
        ballot: MotionVote,
        /// File with the role's key
        #[arg(long, value_name = "FILE")]
        key: PathBuf,
        /// Reason, recorded with the vote
        #[arg(long, value_name = "TEXT", default_value = "")]
        why: String,
    },
    /// Merge a proposal that was reviewed and passed
    Merge {
        #[command(flatten)]
        rfc: RfcName,
        /// Merge a patch without a vote, signed by the creator and Prime
        #[arg(long, requires_all = ["reason", "key", "prime_key"])]
        emergency: bool,
        /// Why the change cannot wait; recorded
        #[arg(long, value_name = "TEXT", requires = "emergency")]
        reason: Option<String>,
        /// File with the creator's key
        #[arg(long, value_name = "FILE", requires = "emergency")]
        key: Option<PathBuf>,
        /// File with Prime's key
        #[arg(long, value_name = "FILE", requires = "emergency")]
        prime_key: Option<PathBuf>,
    },
    /// List proposals
    List,
    /// Show a proposal's changes, reviews, votes and state
    Show {
        #[command(flatten)]
        rfc: RfcName,
    },
}

#[derive(Args, Debug)]
pub(crate) struct RfcName {
    /// Proposal ID or a unique prefix
    #[arg(value_name = "ID")]
    pub(crate) id: String,
}

fn ballot(text: &str) -> Result<MotionVote, ArgumentValueError> {
    MotionVote::read(text).ok_or(ArgumentValueError::Vote)
}
