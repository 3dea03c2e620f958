//! Arguments of staged thinking.

use clap::{Args, Subcommand, ValueEnum};
use fathom_core::unit::Millis;
use fathom_host::config::parse_time;
use fathom_store::channels::SeedState;

use super::value_error::ArgumentValueError;

#[derive(Args, Debug)]
pub(crate) struct ThinkArgs {
    /// The task; `-` or a pipe reads it from stdin
    #[arg(value_name = "TASK", conflicts_with = "idle")]
    pub(crate) question: Option<String>,
    /// Follow up on a saved idea, if no run is active
    #[arg(long)]
    pub(crate) idle: bool,
    /// Maximum number of ideas to follow up [default: 1; with `--every`, no limit]
    #[arg(long, value_name = "N", requires = "idle", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) cycles: Option<u32>,
    /// Check for an idle moment at this interval (30s, 10m, 1h)
    #[arg(long, value_name = "TIME", requires = "idle", value_parser = pause)]
    pub(crate) every: Option<Millis>,
}

/// Reads a pause between two looks.
fn pause(text: &str) -> Result<Millis, ArgumentValueError> {
    match parse_time(text)? {
        Millis(0) => Err(ArgumentValueError::EmptyInterval),
        pause => Ok(pause),
    }
}

#[derive(Subcommand, Debug)]
pub(crate) enum SeedsCommand {
    /// List thought seeds, oldest first
    List {
        /// List only seeds in this state
        #[arg(long, value_name = "STATE")]
        state: Option<SeedStateChoice>,
    },
    /// Set the state of a seed; `new` makes it due for a follow-up again
    Mark {
        /// Seed ID or a unique prefix
        #[arg(value_name = "ID")]
        id: String,
        /// New state
        #[arg(value_name = "STATE")]
        state: SeedStateChoice,
    },
}

/// State of an idea.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SeedStateChoice {
    /// Not followed up yet
    New,
    /// Followed up
    Reviewed,
    /// Put off
    Deferred,
}

impl From<SeedStateChoice> for SeedState {
    fn from(state: SeedStateChoice) -> Self {
        match state {
            SeedStateChoice::New => Self::New,
            SeedStateChoice::Reviewed => Self::Reviewed,
            SeedStateChoice::Deferred => Self::Deferred,
        }
    }
}
