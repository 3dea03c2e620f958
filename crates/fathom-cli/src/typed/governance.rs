//! What is typed about identities and changes of charters.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use fathom_core::protocol::Ballot;

#[derive(Subcommand, Debug)]
pub(crate) enum IdentityCommand {
    /// Show who speaks, who signed that, what changed it, and how stable the stack is
    Show {
        /// A built-in charter, a folder, or the name of one in the home [default: the run's]
        #[arg(value_name = "NAME|DIR")]
        which: Option<String>,
    },
    /// Sign the identity of a charter as its creator; with Prime's key, as an emergency
    Sign {
        /// A folder, or the name of a charter in the home
        #[arg(value_name = "NAME|DIR")]
        which: String,
        /// The creator's key
        #[arg(long, value_name = "FILE")]
        key: PathBuf,
        /// Prime's key, in an emergency
        #[arg(long, value_name = "FILE", requires = "reason")]
        prime_key: Option<PathBuf>,
        /// Why it cannot wait, for the record
        #[arg(long, value_name = "TEXT", requires = "prime_key")]
        reason: Option<String>,
    },
    /// Put a changed identity before the council, as a governance session of creator and stack
    Propose {
        /// The folder with the changed charter; it stays as it is
        #[arg(value_name = "DIR")]
        dir: PathBuf,
        /// The creator's key
        #[arg(long, value_name = "FILE")]
        key: PathBuf,
        #[command(flatten)]
        about: About,
    },
    /// Make a key: a file that only you can read, and its public part on stdout
    Keygen {
        /// The file, which must not be there
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

#[derive(Args, Debug)]
pub(crate) struct About {
    /// What it is to replace: a folder, or the name of a charter in the home [default: the one of the same name]
    #[arg(long, value_name = "NAME|DIR")]
    pub(crate) onto: Option<String>,
    /// Why, for those who vote
    #[arg(long, value_name = "TEXT")]
    pub(crate) why: String,
}

#[derive(Subcommand, Debug)]
pub(crate) enum RfcCommand {
    /// Propose that a charter become what a folder says
    Propose {
        /// The folder with the changed charter
        #[arg(value_name = "DIR")]
        dir: PathBuf,
        #[command(flatten)]
        about: About,
    },
    /// Review a proposal in the name of the role whose key it is
    Review {
        #[command(flatten)]
        rfc: RfcName,
        /// The role's key
        #[arg(long, value_name = "FILE")]
        key: PathBuf,
        /// What there is to say
        #[arg(long, value_name = "TEXT")]
        text: String,
    },
    /// Vote on a proposal in the name of the role whose key it is
    Vote {
        #[command(flatten)]
        rfc: RfcName,
        /// yes, no or abstain
        #[arg(value_name = "VOTE", value_parser = ballot)]
        ballot: Ballot,
        /// The role's key
        #[arg(long, value_name = "FILE")]
        key: PathBuf,
        /// Why, for the record
        #[arg(long, value_name = "TEXT", default_value = "")]
        why: String,
    },
    /// Make a proposal the charter, when it was reviewed and carried
    Merge {
        #[command(flatten)]
        rfc: RfcName,
        /// Without a vote, by the creator and Prime: for a patch that cannot wait
        #[arg(long, requires_all = ["reason", "key", "prime_key"])]
        emergency: bool,
        /// Why it cannot wait, for the record
        #[arg(long, value_name = "TEXT", requires = "emergency")]
        reason: Option<String>,
        /// The creator's key
        #[arg(long, value_name = "FILE", requires = "emergency")]
        key: Option<PathBuf>,
        /// Prime's key
        #[arg(long, value_name = "FILE", requires = "emergency")]
        prime_key: Option<PathBuf>,
    },
    /// List the proposals
    List,
    /// Show a proposal: what it changes, who said what, and how it stands
    Show {
        #[command(flatten)]
        rfc: RfcName,
    },
}

#[derive(Args, Debug)]
pub(crate) struct RfcName {
    /// The proposal's id, or enough of its beginning
    #[arg(value_name = "ID")]
    pub(crate) id: String,
}

fn ballot(text: &str) -> Result<Ballot, String> {
    Ballot::read(text).ok_or_else(|| "it is yes, no or abstain".to_owned())
}
