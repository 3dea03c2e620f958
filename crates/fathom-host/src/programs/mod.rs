//! What each program needs before a run of it starts, and what its result says beyond the usual.
//!
//! One file a program, and one line in [`ProgramRegistry::built_in`].

pub mod agency;
pub mod council;
pub mod direct;
pub mod phases;
mod registry;
pub mod rlm;
mod setup;
pub mod stages;
pub mod tools_loop;

use std::sync::Arc;

pub use fathom_material::{MaterialDocument, SkippedFile};
pub use registry::ProgramRegistry;
pub use setup::{
    PrepareFuture, PrepareProgress, PrepareWarning, PreparedRun, ProgramSetup, ResultKeys,
    ResultSource, RunContext, RunRequest,
};

impl ProgramRegistry {
    /// The programs that come with the host.
    pub fn built_in() -> Self {
        Self::of(vec![
            Arc::new(direct::DirectSetup),
            Arc::new(council::CouncilSetup),
            Arc::new(rlm::RlmSetup),
            Arc::new(phases::PhasesSetup),
            Arc::new(stages::StagesSetup),
            Arc::new(tools_loop::ToolsSetup),
            Arc::new(agency::AgencySetup),
        ])
    }
}
