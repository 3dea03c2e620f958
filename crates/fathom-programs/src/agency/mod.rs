//! `agency`: seven roles work on a goal, and what they do outside goes through the gateway.
//!
//! The orchestrator makes capsules of what is too large to carry, has a plan written, an asset made and judged, has it
//! published and seen, has people answered once, and has it all written down. It holds no tool itself. Planner, creator and
//! doc each write one kind of record (`scribe.rs`); publisher, verifier and engagement are the only ones who reach outside.

mod capsule_check;
mod config;
mod engagement;
mod orchestrator;
mod prompts;
mod publisher;
mod report;
mod role_program;
mod spawn_role;
mod task_packets;
mod verifier;
mod writer;

pub use config::{
    AgencyBlueprint, AgencyConfig, AgencyCrew, AgencyLimits, AgencyTool, CapsuleSource, CrewMember,
    PublishingLane,
};
pub use orchestrator::AgencyProgram;
pub use report::{AgencyReport, StageReport};

use fathom_core::episode::program::{Program, ProgramError};
use fathom_core::journal::event::ProgramSpec;

/// Name of the program in specifications and journals.
pub const NAME: &str = "agency";

/// Kinds of children, for recursion policies.
pub mod child {
    /// Makes a capsule of a large source.
    pub const RETRIEVE: &str = "retrieve";
    /// Writes a plan.
    pub const PLAN: &str = "plan";
    /// Makes an asset.
    pub const CREATE: &str = "create";
    /// Judges an asset.
    pub const CRITIQUE: &str = "critique";
    /// Publishes.
    pub const PUBLISH: &str = "publish";
    /// Answers people.
    pub const ENGAGE: &str = "engage";
    /// Looks whether something happened.
    pub const VERIFY: &str = "verify";
    /// Writes the journal.
    pub const DOCUMENT: &str = "document";

    /// Every kind of child.
    pub const ALL: [&str; 8] = [
        RETRIEVE, PLAN, CREATE, CRITIQUE, PUBLISH, ENGAGE, VERIFY, DOCUMENT,
    ];
}

/// Makes the agency or one of its roles.
pub(super) fn build(spec: &ProgramSpec) -> Option<Result<Box<dyn Program>, ProgramError>> {
    fn boxed<P: Program + 'static>(program: P) -> Box<dyn Program> {
        Box::new(program)
    }
    Some(match spec.name.as_str() {
        NAME => AgencyProgram::new(spec).map(boxed),
        writer::NAME => writer::DraftWriter::new(spec).map(boxed),
        capsule_check::NAME => capsule_check::CapsuleCheck::new(spec).map(boxed),
        publisher::NAME => publisher::PublisherProgram::new(spec).map(boxed),
        verifier::NAME => verifier::VerifierProgram::new(spec).map(boxed),
        engagement::NAME => engagement::EngagementProgram::new(spec).map(boxed),
        _ => return None,
    })
}
