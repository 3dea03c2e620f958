//! The outcome of a motion.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::envelope::{MessageId, MotionVote};
use super::role::CouncilRole;
use crate::unit::PerMille;

/// Number of distinct roles that must have voted, if that many are active.
pub const QUORUM: usize = 2;

/// A vote that stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleVote {
    /// The message that cast it.
    pub message: MessageId,
    pub ballot: MotionVote,
    /// Confidence of the role, if stated.
    pub confidence: Option<PerMille>,
}

/// Tally of the votes on a motion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VoteCount {
    /// For the motion.
    pub yes: usize,
    pub no: usize,
    pub abstain: usize,
}

impl VoteCount {
    /// Counts `votes` by ballot.
    pub fn of(votes: &BTreeMap<CouncilRole, RoleVote>) -> Self {
        let count = |ballot| votes.values().filter(|cast| cast.ballot == ballot).count();
        Self {
            yes: count(MotionVote::Yes),
            no: count(MotionVote::No),
            abstain: count(MotionVote::Abstain),
        }
    }

    /// All that were cast.
    // An abstention counts towards the quorum: the role was there.
    pub const fn cast(&self) -> usize {
        self.yes + self.no + self.abstain
    }
}

impl fmt::Display for VoteCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} yes, {} no, {} abstain",
            self.yes, self.no, self.abstain
        )
    }
}

/// Whose word it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MotionDecider {
    /// More were on this side than on the other.
    Majority,
    /// Both sides were equal, and Prime was on this one.
    Prime,
}

/// Reasons why a person must decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum DeferralReason {
    /// Fewer than two roles are active.
    #[error("{active} of the council's roles active")]
    TooFewActive { active: usize },
    /// Too few roles voted.
    #[error("{voted} voted and {quorum} are needed")]
    NoQuorum { voted: usize, quorum: usize },
    /// Both sides are equal and Prime is on neither.
    #[error("a tie that Prime does not break")]
    Tie,
}

/// The ruling on a motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum MotionRuling {
    /// It is to be done.
    Carried { by: MotionDecider },
    /// It is not to be done.
    Defeated { by: MotionDecider },
    /// A person decides.
    ForPerson { why: DeferralReason },
}

impl fmt::Display for MotionRuling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, by) = match self {
            Self::Carried { by } => ("carried", by),
            Self::Defeated { by } => ("defeated", by),
            Self::ForPerson { why } => return write!(f, "for a person to decide: {why}"),
        };
        f.write_str(word)?;
        match by {
            MotionDecider::Majority => Ok(()),
            MotionDecider::Prime => f.write_str(" by Prime's vote in a tie"),
        }
    }
}

/// The end of a motion: what was ruled, and on which votes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MotionOutcome {
    pub motion: MessageId,
    pub ruling: MotionRuling,
    /// The votes, counted.
    pub count: VoteCount,
    pub votes: BTreeMap<CouncilRole, RoleVote>,
    /// The roles that were active at the end.
    pub active: Vec<CouncilRole>,
    /// Number of roles that had to vote.
    pub quorum: usize,
}

impl fmt::Display for MotionOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.ruling, self.count)?;
        for (place, (role, cast)) in self.votes.iter().enumerate() {
            let before = if place == 0 { ": " } else { ", " };
            write!(f, "{before}{role} {}", cast.ballot)?;
        }
        Ok(())
    }
}
