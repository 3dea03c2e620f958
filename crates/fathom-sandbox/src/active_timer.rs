//! The time in which a cell works by itself; what it waits for does not count.

use std::time::Duration;

use tokio::time::Instant;

use crate::clock;

/// Counts that time.
#[derive(Debug)]
pub(crate) struct ActiveTimer {
    limit: Duration,
    used: Duration,
    since: Option<Instant>,
}

impl ActiveTimer {
    pub(crate) fn new(limit: Duration) -> Self {
        Self {
            limit,
            used: Duration::ZERO,
            since: None,
        }
    }

    pub(crate) fn start(&mut self) {
        self.since.get_or_insert_with(clock::now);
    }

    pub(crate) fn stop(&mut self) {
        if let Some(since) = self.since.take() {
            self.used += clock::now() - since;
        }
    }

    /// Leaves it no more than this from now on.
    pub(crate) fn leave(&mut self, most: Duration) {
        let running = self
            .since
            .map_or(Duration::ZERO, |since| clock::now() - since);
        self.limit = self.limit.min(self.used + running + most);
    }

    /// Tells whether it stands still.
    pub(crate) fn is_stopped(&self) -> bool {
        self.since.is_none()
    }

    /// The time counted when it last stood still.
    pub(crate) fn used(&self) -> Duration {
        self.used
    }

    /// The time at which the limit is reached, while it runs.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let left = self.limit.saturating_sub(self.used);
        // A limit beyond all time is none.
        self.since.and_then(|since| since.checked_add(left))
    }
}
