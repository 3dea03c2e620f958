//! Looks at the runs of a home.

use fathom_core::id::RunId;
use fathom_store::{RunFilter, RunInfo, RunQuery, Verification, VerifyScope};

use crate::error::HostError;
use crate::runtime::Runtime;

impl Runtime {
    /// Runs, newest first.
    pub fn runs(&self, limit: usize) -> Result<Vec<RunInfo>, HostError> {
        Ok(self.inner.journal.list_runs(&RunQuery::newest(limit))?)
    }

    /// What the list of runs knows of one.
    pub fn info(&self, run: RunId) -> Result<RunInfo, HostError> {
        let info = self.inner.journal.run_info(run)?;
        info.ok_or_else(|| HostError::NoSuchRun {
            prefix: run.to_string(),
        })
    }

    /// Checks chains, signed heads and blobs of one run or of all.
    pub fn verify(&self, run: Option<RunId>) -> Result<Verification, HostError> {
        let scope = run.map_or(VerifyScope::All, VerifyScope::Run);
        Ok(self.inner.home.verify(&*self.inner.journal, scope)?)
    }

    /// The run whose id is, or begins with, `prefix`.
    pub fn find(&self, prefix: &str) -> Result<RunId, HostError> {
        let query = RunQuery {
            limit: RunQuery::LIMIT_MAX,
            filter: RunFilter::IdStartsWith(prefix.to_owned()),
        };
        let found = self.inner.journal.list_runs(&query)?;
        match found.as_slice() {
            [one] => Ok(one.run),
            [] => Err(HostError::NoSuchRun {
                prefix: prefix.to_owned(),
            }),
            more => Err(HostError::AmbiguousRun {
                prefix: prefix.to_owned(),
                count: more.len(),
            }),
        }
    }
}
