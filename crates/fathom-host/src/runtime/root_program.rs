//! The root's program, which is built before anything is written, and not a second time when the run begins.

use std::sync::{Arc, Mutex, PoisonError};

use fathom_core::episode::program::{Program, ProgramError, ProgramFactory};
use fathom_core::journal::event::ProgramSpec;

/// The programs of a run whose root's is built already.
pub(super) struct RootProgram {
    programs: Arc<dyn ProgramFactory>,
    /// Gone once the run has begun: a child of the same specification needs a program of its own.
    built: Mutex<Option<(ProgramSpec, Box<dyn Program>)>>,
}

impl RootProgram {
    /// Builds it. One that cannot be made is a mistake of the caller's.
    pub(super) fn build(
        programs: &Arc<dyn ProgramFactory>,
        spec: &ProgramSpec,
    ) -> Result<Self, ProgramError> {
        let program = programs.build(spec)?;
        Ok(Self {
            programs: Arc::clone(programs),
            built: Mutex::new(Some((spec.clone(), program))),
        })
    }
}

impl ProgramFactory for RootProgram {
    fn build(&self, spec: &ProgramSpec) -> Result<Box<dyn Program>, ProgramError> {
        let mut built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        // The root is the first to begin.
        match built.take() {
            Some((own, program)) if own == *spec => Ok(program),
            _ => self.programs.build(spec),
        }
    }
}
