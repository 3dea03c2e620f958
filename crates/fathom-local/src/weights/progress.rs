//! How an installation gets on.

use std::path::PathBuf;

use super::source::Source;

/// Something that happened to a file while it was installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Another process installs it; this one waits for the result.
    Waiting {
        file: String,
    },
    /// What lies under its name is damaged, and is replaced.
    Replacing {
        file: String,
    },
    /// A source is asked.
    Trying {
        file: String,
        source: Source,
    },
    /// Bytes have come.
    Downloading {
        file: String,
        source: Source,
        /// What has come, with what was there before.
        done_bytes: u64,
        /// What has to come.
        total_bytes: u64,
    },
    /// A file, or the parts of one, are read and checked.
    Checking {
        file: String,
        /// What has been read.
        done_bytes: u64,
        /// What has to be read.
        total_bytes: u64,
    },
    /// A source did not help; the next one is asked.
    Skipped {
        file: String,
        source: Source,
        why: String,
    },
    /// It is there.
    Installed {
        file: String,
        path: PathBuf,
    },
}
