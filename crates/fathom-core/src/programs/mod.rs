//! The programs that come with the core.

pub mod direct;

use crate::event::ProgramSpec;
use crate::program::{Program, ProgramError, Programs};

/// Makes the programs of this crate by name.
#[derive(Clone, Copy, Debug, Default)]
pub struct BuiltIn;

impl Programs for BuiltIn {
    fn build(&self, spec: &ProgramSpec) -> Result<Box<dyn Program>, ProgramError> {
        match spec.name.as_str() {
            direct::NAME => Ok(Box::new(direct::Direct::new(spec)?)),
            unknown => Err(ProgramError::Unknown(unknown.to_owned())),
        }
    }
}
