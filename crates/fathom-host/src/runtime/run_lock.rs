//! One owner at a time works on a run.

use std::time::Duration;

use fathom_core::id::RunId;
use fathom_store::RunLock;

use crate::error::HostError;
use crate::runtime::Runtime;

/// How often a lock that is taken is tried.
const LOCK_TRIES: u32 = 4;
/// The pause between two tries.
const LOCK_PAUSE: Duration = Duration::from_millis(2);

impl Runtime {
    pub(crate) fn lock(&self, run: RunId) -> Result<RunLock, HostError> {
        self.try_lock(run)?.ok_or(HostError::Owned { run })
    }

    /// Takes the run's lock if nobody owns the run. Someone who only looks whether it is owned holds the lock
    /// for a moment, so a lock that is taken is tried again before it counts as an owner's.
    #[expect(
        clippy::disallowed_methods,
        reason = "a few milliseconds in all, and only when the lock is taken"
    )]
    pub(crate) fn try_lock(&self, run: RunId) -> Result<Option<RunLock>, HostError> {
        for _ in 1..LOCK_TRIES {
            if let Some(lock) = self.inner.home.lock_run(run)? {
                return Ok(Some(lock));
            }
            std::thread::sleep(LOCK_PAUSE);
        }
        Ok(self.inner.home.lock_run(run)?)
    }
}
