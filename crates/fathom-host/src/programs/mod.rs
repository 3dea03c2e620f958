//! What each program needs before a run of it starts, and what its result says beyond the usual.
//!
//! One file a program, and one line in the [`ProgramRegistry`].

pub mod agency;
pub mod council;
pub mod direct;
pub mod phases;
mod registry;
pub mod rlm;
mod setup;
pub mod stages;
pub mod tools_loop;

pub use fathom_material::{MaterialDocument, SkippedFile};
pub use registry::ProgramRegistry;
pub use setup::{
    PrepareFuture, PrepareProgress, PrepareWarning, PreparedRun, ProgramSetup, ResultKeys,
    ResultSource, RunContext, RunRequest,
};
