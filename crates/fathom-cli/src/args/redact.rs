//! Arguments of the filter for texts.

use std::path::PathBuf;

use clap::Args;

#[derive(Args, Debug)]
pub(crate) struct RedactArgs {
    /// File to redact; `-` or no argument reads stdin
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Print the position, kind and treatment of each finding instead of the text
    #[arg(long)]
    pub(crate) spans: bool,
    /// File with your own rules; see docs/redaction.md
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
    /// Key file for hashes and tokens: 32 random bytes, readable only by you
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
    /// Restore the original values of tokens sealed with this key; redact nothing
    #[arg(long, requires = "key_file", conflicts_with_all = ["spans", "rules"])]
    pub(crate) open: bool,
}
