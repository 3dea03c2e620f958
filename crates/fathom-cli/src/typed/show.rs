//! What is typed to look at a run.

use clap::Args;
use fathom_host::story::Place;

#[derive(Args, Debug)]
pub(crate) struct Show {
    /// The run's id, or enough of its beginning
    #[arg(value_name = "RUN", required_unless_present = "domain")]
    pub(crate) run: Option<String>,
    /// As it stood at a record, given as SEQ or EPISODE:SEQ
    #[arg(long, value_name = "[EPISODE:]SEQ", conflicts_with = "domain")]
    pub(crate) at: Option<Place>,
    /// What is written in a domain, as `plan` or `assets`; by one run, if it is named
    #[arg(long, value_name = "NAME")]
    pub(crate) domain: Option<String>,
    /// All versions of one record of the domain
    #[arg(long, value_name = "ID", requires = "domain")]
    pub(crate) record: Option<String>,
    /// Personal data and secrets too, for those who may decide here
    #[arg(long)]
    pub(crate) original: bool,
}
