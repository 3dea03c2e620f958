//! Progress of an installation.

use std::path::PathBuf;

use super::source::WeightsSource;

/// An event during the installation of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstallProgress {
    /// Another process installs it; this one waits for the result.
    Waiting { file: String },
    /// The existing file is damaged and is replaced.
    Replacing { file: String },
    /// A source is tried.
    Trying { file: String, source: WeightsSource },
    /// Bytes were received.
    Downloading {
        file: String,
        source: WeightsSource,
        /// Bytes received, including earlier attempts.
        done_bytes: u64,
        /// Total size.
        total_bytes: u64,
    },
    /// A file, or its parts, are read and checked.
    Checking {
        file: String,
        /// Bytes read.
        done_bytes: u64,
        /// Total size.
        total_bytes: u64,
    },
    /// A source failed; the next one is tried.
    Skipped {
        file: String,
        source: WeightsSource,
        why: String,
    },
    /// The file is installed.
    Installed { file: String, path: PathBuf },
}
