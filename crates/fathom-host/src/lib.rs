//! The composition root and the embedded host that drives runs.
//!
//! [`Runtime`] opens a home folder; [`Runtime::start`] begins a run and hands back a [`RunHandle`]. The driver
//! behind it journals each event, folds it, and carries out what follows.

pub mod channels;
pub mod charter;
pub mod clock;
pub mod config;
pub mod domains;
mod driver;
pub mod effects;
pub mod error;
pub mod governance;
pub mod idle;
pub mod learning;
pub mod material;
pub mod models;
pub mod programs;
mod runtime;
pub mod view;

pub use driver::RunEnd;
pub use error::HostError;
pub use runtime::run_handle::RunHandle;
pub use runtime::run_reader::ReplayReport;
pub use runtime::{NewRun, Runtime, RuntimeOptions};
