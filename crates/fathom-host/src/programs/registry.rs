//! Which programs this host can prepare: those that come with it, and those of whoever embeds it.

use std::fmt;
use std::sync::Arc;

use fathom_core::journal::event::ProgramSpec;
use fathom_sandbox::SandboxMaterial;

use super::setup::{ProgramSetup, ResultKeys, ResultSource};
use crate::error::HostError;

/// The programs of a runtime, by their names.
#[derive(Clone)]
pub struct ProgramRegistry {
    setups: Vec<Arc<dyn ProgramSetup>>,
}

impl ProgramRegistry {
    pub(super) fn of(setups: Vec<Arc<dyn ProgramSetup>>) -> Self {
        Self { setups }
    }

    /// The same with one more, which stands before an earlier one of its name.
    #[must_use]
    pub fn with(mut self, setup: impl ProgramSetup + 'static) -> Self {
        self.setups.insert(0, Arc::new(setup));
        self
    }

    /// The program of a name.
    pub fn get(&self, name: &str) -> Option<&dyn ProgramSetup> {
        let found = self.setups.iter().find(|setup| setup.name() == name)?;
        Some(&**found)
    }

    /// Each program.
    pub fn iter(&self) -> impl Iterator<Item = &dyn ProgramSetup> {
        self.setups.iter().map(|setup| &**setup)
    }

    /// What a result says beyond the usual, with the keys of `program`; of the run's own where none is named.
    pub fn result(&self, program: Option<&str>, source: &ResultSource<'_>) -> ResultKeys {
        let own = source.root().map(|root| root.started.program.name.as_str());
        let setup = program.or(own).and_then(|name| self.get(name));
        setup.map_or_else(ResultKeys::new, |setup| setup.result(source))
    }

    /// The material of a run that is gone on with.
    pub(crate) fn reread(&self, program: &ProgramSpec) -> Result<Vec<SandboxMaterial>, HostError> {
        match self.get(&program.name) {
            Some(setup) => setup.reread(program),
            None => Ok(Vec::new()),
        }
    }
}

impl fmt::Debug for ProgramRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.iter().map(ProgramSetup::name))
            .finish()
    }
}
