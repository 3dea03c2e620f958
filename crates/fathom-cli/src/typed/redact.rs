//! What is typed to filter a text.

use std::path::PathBuf;

use clap::Args;

#[derive(Args, Debug)]
pub(crate) struct Redact {
    /// The text; stdin when nothing is named, or `-`
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Print where something was found and what became of it, instead of the text
    #[arg(long)]
    pub(crate) spans: bool,
    /// Rules of one's own, as docs/redaction.md describes them
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
    /// The key of hashes and tokens: 32 random bytes that only you can read
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
    /// Turn tokens that this key sealed back into what they stand for, and filter nothing
    #[arg(long, requires = "key_file", conflicts_with_all = ["spans", "rules"])]
    pub(crate) open: bool,
}
