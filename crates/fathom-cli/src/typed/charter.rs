//! What is typed about charters.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Subcommand, Debug)]
pub(crate) enum CharterCommand {
    /// Tell all that is wrong with a charter, with file, line and column
    Check {
        /// A built-in charter, a folder, or the name of one in the home [default: default]
        #[arg(value_name = "NAME|DIR")]
        which: Option<String>,
    },
    /// Show what a charter says: packet, roles and models, texts and their tokens
    Show {
        /// A built-in charter, a folder, or the name of one in the home [default: default]
        #[arg(value_name = "NAME|DIR")]
        which: Option<String>,
    },
    /// Tell what is different between two charters, and how far the version must move for it
    Diff {
        /// The one that was: a built-in charter, a folder, or the name of one in the home
        #[arg(value_name = "OLD")]
        old: String,
        /// The one that is to be
        #[arg(value_name = "NEW")]
        new: String,
    },
    /// Learn from past councils when sub-chiefs are worth asking, and print how well it does
    Learn(Learn),
    /// List the tools that a charter met on its servers, and whether they may be used
    Tools {
        /// The charter's name
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Let a tool in that has changed since it was first met
    Accept {
        /// The charter's name
        #[arg(value_name = "NAME")]
        name: String,
        /// The tool, with its server's name
        #[arg(value_name = "TOOL")]
        tool: String,
        /// The beginning of its digest, as `charter tools` shows it
        #[arg(value_name = "SHA256")]
        digest: String,
    },
    /// Write a charter to begin with, with comments that explain it
    New {
        /// Its name, which is the name of its folder too
        #[arg(value_name = "NAME")]
        name: String,
        /// Where its folder goes [default: `charters` in the home]
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
}

#[derive(Args, Debug)]
pub(crate) struct Learn {
    /// The charter that is to go by it: a folder, or the name of one in the home [default: the run's]
    #[arg(value_name = "NAME|DIR")]
    pub(crate) which: Option<String>,
    /// How many days of councils to learn from
    #[arg(long, value_name = "N", default_value_t = 365)]
    pub(crate) days: u32,
    /// Where to write what was learned [default: `learned.toml` in the charter's folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Train and print, but write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}
