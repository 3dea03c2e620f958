//! The budget's dimensions and vectors over them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::unit::{Millis, Nanodollars};

/// A dimension of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// Input and output tokens of model calls.
    Tokens,
    Calls,
    Tools,
    /// Wall time while the episode is worked on.
    Time,
    Money,
    /// Episodes of the tree.
    Episodes,
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tokens => "tokens",
            Self::Calls => "calls",
            Self::Tools => "tools",
            Self::Time => "time",
            Self::Money => "cost",
            Self::Episodes => "episodes",
        })
    }
}

/// An amount in every dimension that is counted. Time is not: it is a deadline, never divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amounts {
    pub tokens: u64,
    pub calls: u64,
    pub tools: u64,
    pub money: Nanodollars,
    pub episodes: u64,
}

impl Amounts {
    /// Nothing of anything.
    pub const ZERO: Self = Self {
        tokens: 0,
        calls: 0,
        tools: 0,
        money: Nanodollars(0),
        episodes: 0,
    };

    /// No bound in any dimension.
    pub const MAX: Self = Self {
        tokens: u64::MAX,
        calls: u64::MAX,
        tools: u64::MAX,
        money: Nanodollars(u64::MAX),
        episodes: u64::MAX,
    };

    /// The counted dimensions, in the order they are reported.
    pub const DIMENSIONS: [Dimension; 5] = [
        Dimension::Tokens,
        Dimension::Calls,
        Dimension::Tools,
        Dimension::Money,
        Dimension::Episodes,
    ];

    /// The amount in one dimension; time has none.
    pub const fn get(&self, dimension: Dimension) -> u64 {
        match dimension {
            Dimension::Tokens => self.tokens,
            Dimension::Calls => self.calls,
            Dimension::Tools => self.tools,
            Dimension::Money => self.money.0,
            Dimension::Episodes => self.episodes,
            // Time is bounded by a deadline, so no amount of it is ever compared.
            Dimension::Time => 0,
        }
    }

    /// Combines two vectors dimension by dimension.
    #[must_use]
    pub fn zip(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            tokens: f(self.tokens, other.tokens),
            calls: f(self.calls, other.calls),
            tools: f(self.tools, other.tools),
            money: Nanodollars(f(self.money.0, other.money.0)),
            episodes: f(self.episodes, other.episodes),
        }
    }

    /// Sum, held at the largest number.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.zip(other, u64::saturating_add)
    }

    /// Difference, held at zero.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        self.zip(other, u64::saturating_sub)
    }

    /// The smaller in each dimension.
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        self.zip(other, u64::min)
    }

    /// The larger in each dimension.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        self.zip(other, u64::max)
    }

    /// The first dimension in which `self` is more than `room`.
    pub fn exceeds(&self, room: &Self) -> Option<Dimension> {
        Self::DIMENSIONS
            .into_iter()
            .find(|&dimension| self.get(dimension) > room.get(dimension))
    }
}

/// Limits of an episode: an amount in every dimension and a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    #[serde(flatten)]
    pub amounts: Amounts,
    /// Wall time while the episode is worked on.
    pub time: Millis,
}
