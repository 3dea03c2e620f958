//! How an installation gets on.

use std::path::PathBuf;

use super::source::Source;

/// Something that happened to a file while it was installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Another process installs it; this one waits for the result.
    Waiting {
        /// The file.
        file: String,
    },
    /// What lies under its name is damaged, and is replaced.
    Replacing {
        /// The file.
        file: String,
    },
    /// A source is asked.
    Trying {
        /// The file.
        file: String,
        /// The source.
        source: Source,
    },
    /// Bytes have come.
    Downloading {
        /// The file.
        file: String,
        /// The source.
        source: Source,
        /// What has come, with what was there before.
        done_bytes: u64,
        /// What has to come.
        total_bytes: u64,
    },
    /// A file, or the parts of one, are read and checked.
    Checking {
        /// The file.
        file: String,
        /// What has been read.
        done_bytes: u64,
        /// What has to be read.
        total_bytes: u64,
    },
    /// A source did not help; the next one is asked.
    Skipped {
        /// The file.
        file: String,
        /// The source.
        source: Source,
        /// Why.
        why: String,
    },
    /// It is there.
    Installed {
        /// The file.
        file: String,
        /// Where.
        path: PathBuf,
    },
}
