//! Arguments of the commands for charters.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Subcommand, Debug)]
pub(crate) enum CharterCommand {
    /// Check a charter and list all problems with file, line and column
    Check {
        /// Built-in charter, charter in the data folder, or path [default: default]
        #[arg(value_name = "NAME|DIR")]
        which: Option<String>,
    },
    /// Show a charter's packet sizes, roles, models and texts with their tokens
    Show {
        /// Built-in charter, charter in the data folder, or path [default: default]
        #[arg(value_name = "NAME|DIR")]
        which: Option<String>,
    },
    /// Compare two charters and show the version bump required
    Diff {
        /// Old charter: built-in, in the data folder, or a path
        #[arg(value_name = "OLD")]
        old: String,
        /// New charter
        #[arg(value_name = "NEW")]
        new: String,
    },
    /// Train the rule that decides when sub-chiefs are asked, and print its accuracy
    Learn(LearnArgs),
    /// List the MCP tools a charter has seen, and whether each may be used
    Tools {
        /// Charter name
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Accept a tool that has changed since it was pinned
    Accept {
        /// Charter name
        #[arg(value_name = "NAME")]
        name: String,
        /// Tool name, including its server's
        #[arg(value_name = "TOOL")]
        tool: String,
        /// Start of the tool's digest, as shown by `charter tools`
        #[arg(value_name = "SHA256")]
        digest: String,
    },
    /// Create a commented starter charter
    New {
        /// Charter name, also used for its folder
        #[arg(value_name = "NAME")]
        name: String,
        /// Parent folder [default: `charters` in the data folder]
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
}

#[derive(Args, Debug)]
pub(crate) struct LearnArgs {
    /// Charter to train for: a name in the data folder or a path [default: `--charter`]
    #[arg(value_name = "NAME|DIR")]
    pub(crate) which: Option<String>,
    /// Number of days of councils to learn from
    #[arg(long, value_name = "N", default_value_t = 365)]
    pub(crate) days: u32,
    /// Output file [default: `learned.toml` in the charter's folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Train and print, but do not write the file
    #[arg(long)]
    pub(crate) dry_run: bool,
}
