//! Crash points: between any two actions of the host.

use super::rng::SimRng;

/// Counts the boundaries up to the next crash.
pub(super) struct CrashPoint {
    rng: SimRng,
    /// Crashes that may still come.
    left: u32,
    /// Boundaries between two crashes, at most.
    spacing: u64,
    countdown: u64,
    has_crashed: bool,
}

impl CrashPoint {
    pub(super) fn new(crashes: u32, spacing: u64, mut rng: SimRng) -> Self {
        let countdown = rng.between(1, spacing);
        Self {
            rng,
            left: crashes,
            spacing,
            countdown,
            has_crashed: false,
        }
    }

    /// Passes a boundary and says whether the process is dead behind it.
    pub(super) fn crosses(&mut self) -> bool {
        if !self.has_crashed && self.left > 0 {
            self.countdown -= 1;
            self.has_crashed = self.countdown == 0;
        }
        self.has_crashed
    }

    pub(super) fn has_crashed(&self) -> bool {
        self.has_crashed
    }

    /// Brings the next crash near: where several records belong together, crashes are told apart.
    pub(super) fn hasten(&mut self, within: u64) {
        let near = self.rng.between(1, within);
        self.countdown = self.countdown.min(near);
    }

    /// A new process: the next crash is on its way.
    pub(super) fn restart(&mut self) {
        if self.has_crashed {
            self.left -= 1;
            self.has_crashed = false;
            self.countdown = self.rng.between(1, self.spacing);
        }
    }
}
