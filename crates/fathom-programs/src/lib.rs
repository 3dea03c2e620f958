//! The programs that come with the core.

pub mod agency;
mod ask_batch;
mod conclusion;
pub mod council;
pub mod direct;
pub mod motion;
pub mod phases;
pub mod reply;
pub mod rlm;
pub mod stages;
pub mod tools_loop;

pub use ask_batch::AskBatch;

use fathom_core::episode::program::{Program, ProgramError, ProgramFactory};
use fathom_core::journal::event::ProgramSpec;

/// Makes the programs of this crate by name.
#[derive(Clone, Copy, Debug, Default)]
pub struct BuiltInPrograms;

impl ProgramFactory for BuiltInPrograms {
    fn build(&self, spec: &ProgramSpec) -> Result<Box<dyn Program>, ProgramError> {
        // These two have several names each, for their seats and roles, which stay private to them.
        if let Some(built) = council::build(spec).or_else(|| agency::build(spec)) {
            return built;
        }
        match spec.name.as_str() {
            direct::NAME => Ok(Box::new(direct::DirectProgram::new(spec)?)),
            rlm::NAME => Ok(Box::new(rlm::RlmProgram::new(spec)?)),
            phases::NAME => Ok(Box::new(phases::PhasesProgram::new(spec)?)),
            stages::NAME => Ok(Box::new(stages::StagesProgram::new(spec)?)),
            tools_loop::NAME => Ok(Box::new(tools_loop::ToolsProgram::new(spec)?)),
            motion::NAME => Ok(Box::new(motion::MotionProgram::new(spec)?)),
            unknown => Err(ProgramError::Unknown(unknown.to_owned())),
        }
    }
}
