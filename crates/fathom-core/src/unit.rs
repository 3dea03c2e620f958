//! Units: a number never travels without what it counts.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Milliseconds since the Unix epoch, as the host's clock read them.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// The moment `later` after this one.
    #[must_use]
    pub const fn plus(self, later: Millis) -> Self {
        Self(self.0.saturating_add(later.0))
    }

    /// How long after `earlier` this is; zero when the clock went back.
    pub const fn since(self, earlier: Self) -> Millis {
        Millis(self.0.saturating_sub(earlier.0))
    }
}

/// A span of milliseconds.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Millis(pub u64);

impl From<Millis> for Duration {
    fn from(span: Millis) -> Self {
        Self::from_millis(span.0)
    }
}

/// Billionths of a dollar: one token of a cheap model costs a few hundred of them.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Nanodollars(pub u64);

impl fmt::Display for Nanodollars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.0.div_ceil(1000);
        let (dollars, rest) = (micros / 1_000_000, micros % 1_000_000);
        if rest.is_multiple_of(10_000) {
            write!(f, "${dollars}.{:02}", rest / 10_000)
        } else {
            write!(f, "${dollars}.{rest:06}")
        }
    }
}
