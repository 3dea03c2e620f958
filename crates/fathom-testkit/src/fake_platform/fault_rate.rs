//! Rate of faults.

use crate::sim::rng::SimRng;

/// Selection of requests that fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FaultRate {
    /// None.
    #[default]
    Never,
    /// All.
    Always,
    /// The first few: a burst.
    First(u64),
    /// Every n-th.
    Every(u64),
    /// This many in a thousand, by chance.
    Permille(u64),
}

/// Counts what could go wrong.
#[derive(Debug, Default)]
pub(crate) struct FaultTally(u64);

impl FaultTally {
    /// True if the next request fails.
    pub(crate) fn next(&mut self, when: FaultRate, rng: &mut SimRng) -> bool {
        self.0 += 1;
        match when {
            FaultRate::Never => false,
            FaultRate::Always => true,
            FaultRate::First(count) => self.0 <= count,
            FaultRate::Every(count) => count > 0 && self.0.is_multiple_of(count),
            FaultRate::Permille(permille) => rng.chance(permille),
        }
    }
}
