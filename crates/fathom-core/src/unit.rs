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

    /// Time since `earlier`; zero if the clock went back.
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
        // Rounded up: a cost never looks smaller than it is.
        let micros = self.0.div_ceil(1000);
        let (dollars, rest) = (micros / 1_000_000, micros % 1_000_000);
        if rest.is_multiple_of(10_000) {
            write!(f, "${dollars}.{:02}", rest / 10_000)
        } else {
            write!(f, "${dollars}.{rest:06}")
        }
    }
}

/// A share between nothing and all, in thousandths.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(into = "u16", try_from = "u16")]
pub struct PerMille(u16);

/// A number above a thousand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is more than a thousand thousandths")]
pub struct PerMilleError(u16);

impl PerMille {
    pub const ALL: Self = Self(1000);

    /// So many thousandths.
    pub const fn new(milli: u16) -> Result<Self, PerMilleError> {
        if milli > 1000 {
            return Err(PerMilleError(milli));
        }
        Ok(Self(milli))
    }

    /// `part` of `whole`, rounded to the nearest; nothing of nothing is nothing.
    pub fn share(part: u64, whole: u64) -> Self {
        if whole == 0 {
            return Self(0);
        }
        let milli =
            (u128::from(part.min(whole)) * 1000 + u128::from(whole) / 2) / u128::from(whole);
        Self(u16::try_from(milli).unwrap_or(1000))
    }

    /// The share as a number of thousandths.
    pub const fn get(self) -> u16 {
        self.0
    }

    /// Rounded to whole per cent.
    pub const fn percent(self) -> u16 {
        (self.0 + 5) / 10
    }

    /// Between 0 and 1.
    pub fn fraction(self) -> f64 {
        f64::from(self.0) / 1000.0
    }
}

impl From<PerMille> for u16 {
    fn from(milli: PerMille) -> Self {
        milli.0
    }
}

impl TryFrom<u16> for PerMille {
    type Error = PerMilleError;

    fn try_from(milli: u16) -> Result<Self, PerMilleError> {
        Self::new(milli)
    }
}
