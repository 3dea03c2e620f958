//! A clock that stands still until a test moves it, in either direction.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fathom_core::unit::{Millis, Timestamp};

/// A clock in a test's hands. Clones show the same time.
#[derive(Clone, Debug)]
pub struct FakeClock {
    now: Arc<AtomicU64>,
}

impl FakeClock {
    /// A clock that shows `now`.
    pub fn at(now: Timestamp) -> Self {
        Self {
            now: Arc::new(AtomicU64::new(now.0)),
        }
    }

    /// Current time of the clock.
    pub fn now(&self) -> Timestamp {
        Timestamp(self.now.load(Ordering::SeqCst))
    }

    /// Lets time pass.
    pub fn advance(&self, by: Millis) {
        self.set(self.now().plus(by));
    }

    /// Puts it back, as a correction from outside does.
    pub fn put_back(&self, by: Millis) {
        self.set(Timestamp(self.now().0.saturating_sub(by.0)));
    }

    /// Sets it.
    pub fn set(&self, now: Timestamp) {
        self.now.store(now.0, Ordering::SeqCst);
    }
}

impl Default for FakeClock {
    /// Some morning in 2026.
    fn default() -> Self {
        Self::at(Timestamp(1_790_000_000_000))
    }
}
