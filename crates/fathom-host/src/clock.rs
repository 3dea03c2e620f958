//! The one place that reads time.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fathom_core::unit::{Millis, Timestamp};

/// Tells the time that goes into events.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;
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
            wall: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default(),
            steady: Instant::now(),
        }
    }
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
        let now = self.wall + self.steady.elapsed();
        Timestamp(u64::try_from(now.as_millis()).unwrap_or(u64::MAX))
    }
}

/// How long until `at`.
pub(crate) fn until(clock: &dyn Clock, at: Timestamp) -> Duration {
    let Millis(millis) = at.since(clock.now());
    Duration::from_millis(millis)
}
