//! Long work on files, away from the threads that serve everything else.

use std::io;

use tokio::sync::watch;

/// Reports the progress of the work, and tells it when no one waits any more.
pub(super) struct ProgressTicker(Option<watch::Sender<u64>>);

impl ProgressTicker {
    /// For work that is always waited for to its end.
    pub(super) const fn alone() -> Self {
        Self(None)
    }

    /// Reports progress. Fails if the work should stop.
    pub(super) fn tick(&self, done_bytes: u64) -> io::Result<()> {
        let Some(sender) = &self.0 else {
            return Ok(());
        };
        if sender.is_closed() {
            return Err(io::Error::other("nobody waits for it any more"));
        }
        sender.send_replace(done_bytes);
        Ok(())
    }
}

/// Runs `work` on a separate thread. When the future is dropped, the work stops at its next tick.
pub(super) async fn run<T: Send + 'static>(
    work: impl FnOnce(&ProgressTicker) -> T + Send + 'static,
    mut report: impl FnMut(u64),
) -> io::Result<T> {
    let (sender, mut receiver) = watch::channel(0);
    let mut task = tokio::task::spawn_blocking(move || work(&ProgressTicker(Some(sender))));
    loop {
        tokio::select! {
            done = &mut task => return done.map_err(io::Error::other),
            changed = receiver.changed() => {
                if changed.is_err() {
                    return task.await.map_err(io::Error::other);
                }
                report(*receiver.borrow_and_update());
            }
        }
    }
}
