//! Arguments of the commands that display runs.

use clap::Args;
use fathom_host::view::run::RecordRef;

#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    /// Run ID or a unique prefix
    #[arg(value_name = "RUN", required_unless_present = "domain")]
    pub(crate) run: Option<String>,
    /// Show the run as of a record, given as SEQ or EPISODE:SEQ
    #[arg(long, value_name = "[EPISODE:]SEQ", conflicts_with = "domain")]
    pub(crate) at: Option<RecordRef>,
    /// Show the records of a domain, such as `plan` or `assets`; only those of RUN, if given
    #[arg(long, value_name = "NAME")]
    pub(crate) domain: Option<String>,
    /// Show all versions of one record of the domain
    #[arg(long, value_name = "ID", requires = "domain")]
    pub(crate) record: Option<String>,
    /// Show personal data and secrets unmasked, if you may decide here
    #[arg(long)]
    pub(crate) original: bool,
}
