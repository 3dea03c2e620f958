//! The time an episode is worked on. Pauses and the time between two owners do not count.

use crate::unit::{Millis, Timestamp};

/// Counts active time from the timestamps of events.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch {
    limit: Millis,
    active: Millis,
    last: Timestamp,
    paused: bool,
}

impl Stopwatch {
    pub(crate) const fn start(at: Timestamp, limit: Millis) -> Self {
        Self {
            limit,
            active: Millis(0),
            last: at,
            paused: false,
        }
    }

    /// Counts the time since the last event, unless paused. A clock that went back counts as no time.
    pub(crate) fn see(&mut self, at: Timestamp) {
        if !self.paused {
            self.active = Millis(self.active.0.saturating_add(at.since(self.last).0));
        }
        self.last = at;
    }

    /// A new owner: what lies between is not counted.
    pub(crate) fn skip_to(&mut self, at: Timestamp) {
        self.last = at;
    }

    pub(crate) fn pause(&mut self, paused: bool) {
        self.paused = paused;
    }

    pub(crate) const fn is_paused(&self) -> bool {
        self.paused
    }

    pub(crate) const fn active(&self) -> Millis {
        self.active
    }

    pub(crate) const fn limit(&self) -> Millis {
        self.limit
    }

    pub(crate) const fn left(&self) -> Millis {
        Millis(self.limit.0.saturating_sub(self.active.0))
    }

    /// The time of the last event.
    pub(crate) const fn last(&self) -> Timestamp {
        self.last
    }

    /// The moment at which the time is up if nothing pauses it.
    pub(crate) const fn deadline(&self) -> Timestamp {
        self.last.plus(self.left())
    }
}

#[cfg(test)]
#[path = "active_time_tests.rs"]
mod tests;
