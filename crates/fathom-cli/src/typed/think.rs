//! What is typed where something is thought through in stages.

use clap::{Args, Subcommand, ValueEnum};
use fathom_core::unit::Millis;
use fathom_host::config::parse_time;
use fathom_store::channels::SeedState;

#[derive(Args, Debug)]
pub(crate) struct Think {
    /// The task; `-` or a pipe reads it from stdin
    #[arg(value_name = "TASK", conflicts_with = "idle")]
    pub(crate) question: Option<String>,
    /// Come back to an idea that was kept for later, if nothing else is going on
    #[arg(long)]
    pub(crate) idle: bool,
    /// Most ideas to come back to, one after the other [default: 1; with `--every` no end]
    #[arg(long, value_name = "N", requires = "idle", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) cycles: Option<u32>,
    /// Look for an idle moment again and again, so far apart: 30s, 10m, 1h
    #[arg(long, value_name = "TIME", requires = "idle", value_parser = pause)]
    pub(crate) every: Option<Millis>,
}

/// Reads a pause between two looks.
fn pause(text: &str) -> Result<Millis, String> {
    match parse_time(text)? {
        Millis(0) => Err("there is no pause of nothing".to_owned()),
        pause => Ok(pause),
    }
}

#[derive(Subcommand, Debug)]
pub(crate) enum SeedsCommand {
    /// List what is kept for later, the oldest first
    List {
        /// Only what is in this state
        #[arg(long, value_name = "STATE")]
        state: Option<State>,
    },
    /// Say how far an idea is; `new` has it come back to once more
    Mark {
        /// The seed's id, or enough of its beginning
        #[arg(value_name = "ID")]
        id: String,
        /// How far it is
        #[arg(value_name = "STATE")]
        state: State,
    },
}

/// How far an idea is.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum State {
    /// Nobody came back to it
    New,
    /// Somebody did
    Reviewed,
    /// It was put off
    Deferred,
}

impl From<State> for SeedState {
    fn from(state: State) -> Self {
        match state {
            State::New => Self::New,
            State::Reviewed => Self::Reviewed,
            State::Deferred => Self::Deferred,
        }
    }
}
