//! The one place that reads time.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fathom_core::unit::{Millis, Timestamp};

/// Tells the time that goes into events.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;

    /// Wall time: it continues while the machine sleeps, and a person may set it.
    fn wall(&self) -> Timestamp {
        self.now()
    }
}

/// The machine's clock: set once from the wall, then steady, so that within a process time never jumps.
#[derive(Debug)]
pub struct SystemClock {
    wall: Duration,
    steady: Instant,
}

impl SystemClock {
    /// Reads the wall clock.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the clock that everyone else is told to use"
    )]
    pub fn new() -> Self {
        Self {
            wall: wall(),
            steady: Instant::now(),
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the clock that everyone else is told to use"
)]
fn wall() -> Duration {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default()
}

fn timestamp(since: Duration) -> Timestamp {
    Timestamp(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the clock that everyone else is told to use"
    )]
    fn now(&self) -> Timestamp {
        // Wall time at the start plus steady time since: deadlines must not jump when the system's clock is set.
        timestamp(self.wall + self.steady.elapsed())
    }

    fn wall(&self) -> Timestamp {
        timestamp(wall())
    }
}

/// Time left until `at`.
pub(crate) fn until(clock: &dyn Clock, at: Timestamp) -> Duration {
    let Millis(millis) = at.since(clock.now());
    Duration::from_millis(millis)
}
