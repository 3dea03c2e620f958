//! Lock for installing a file: one process at a time.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::time::Duration;

/// Interval between attempts to take the lock.
const POLL: Duration = Duration::from_millis(100);
/// Longest wait for another process: the largest file over a slow line.
const WAIT_MAX: Duration = Duration::from_hours(2);
const POLLS_MAX: u128 = WAIT_MAX.as_millis() / POLL.as_millis();

/// The lock of one file. The operating system releases it when the process ends, however it ends.
#[derive(Debug)]
pub(super) struct FileLock(#[expect(dead_code, reason = "it is held, not read")] File);

/// Reasons for having no lock.
#[derive(Debug)]
pub(super) enum NoLock {
    /// The lock file is unusable.
    Io(io::Error),
    /// Another process has held it for this many minutes.
    Busy(u64),
}

impl FileLock {
    /// Waits for the lock; `waiting` is called once if another process has it. The lock file is never removed,
    /// which would let two processes hold locks on two files of the same name.
    pub(super) async fn take(path: &Path, waiting: impl FnOnce()) -> Result<Self, NoLock> {
        let mut options = OpenOptions::new();
        let file = options.create(true).truncate(false).write(true).open(path);
        let file = file.map_err(NoLock::Io)?;
        let mut waiting = Some(waiting);
        for _ in 0..POLLS_MAX {
            match file.try_lock() {
                Ok(()) => return Ok(Self(file)),
                Err(TryLockError::Error(error)) => return Err(NoLock::Io(error)),
                Err(TryLockError::WouldBlock) => {}
            }
            if let Some(waiting) = waiting.take() {
                waiting();
            }
            pause().await;
        }
        Err(NoLock::Busy(WAIT_MAX.as_secs() / 60))
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the system has no way to wait for a file lock that could be given up"
)]
async fn pause() {
    tokio::time::sleep(POLL).await;
}
