//! How often something goes wrong.

use crate::sim::rng::Rng;

/// Which of many things go wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum When {
    /// None.
    #[default]
    Never,
    /// All.
    Always,
    /// The first few: a burst.
    First(u64),
    /// Every n-th.
    Every(u64),
    /// So many in a thousand, by chance.
    Permille(u64),
}

/// Counts what could go wrong.
#[derive(Debug, Default)]
pub(crate) struct Tally(u64);

impl Tally {
    /// Whether the next one does.
    pub(crate) fn next(&mut self, when: When, rng: &mut Rng) -> bool {
        self.0 += 1;
        match when {
            When::Never => false,
            When::Always => true,
            When::First(count) => self.0 <= count,
            When::Every(count) => count > 0 && self.0.is_multiple_of(count),
            When::Permille(permille) => rng.chance(permille),
        }
    }
}
