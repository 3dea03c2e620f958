//! The composition root and the embedded host that drives runs.
//!
//! [`Runtime`] opens a home folder; [`Runtime::start`] begins a run and hands back a [`RunHandle`]. The driver
//! behind it journals each event, folds it, and carries out what follows.

pub mod agency;
mod calls;
mod cells;
pub mod channels;
pub mod charter;
pub mod clock;
pub mod config;
mod confining;
pub mod convening;
pub mod council_figures;
pub mod deeds;
pub mod domains;
mod driver;
pub mod effects;
mod errands;
pub mod error;
pub mod exploring;
mod fork;
mod gates;
mod handle;
pub mod heart;
pub mod identity;
pub mod initiative;
pub mod learning;
pub mod local;
mod locking;
mod looking;
pub mod material;
mod models;
pub mod people;
mod phasing;
mod reading;
mod recall;
mod recorder;
pub mod rfc;
mod runtime;
pub mod spoken;
mod staging;
pub mod story;
mod tables;
mod tooling;

pub use driver::RunEnd;
pub use error::HostError;
pub use handle::RunHandle;
pub use reading::ReplayReport;
pub use runtime::{NewRun, Runtime, RuntimeOptions};
