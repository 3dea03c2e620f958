//! The vote of a reply, read strictly: every reply is a vote or a typed failure.

use std::fmt;

use serde::{Deserialize, Serialize};

pub use super::reply::{REASONING_CHARS_MAX, read};

use fathom_core::unit::PerMille;

/// Vote of a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Vote {
    Approve,
    Reject,
    Abstain,
}

impl Vote {
    /// Every vote, once.
    pub const ALL: [Self; 3] = [Self::Approve, Self::Reject, Self::Abstain];

    /// As it is written.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Approve => "APPROVE",
            Self::Reject => "REJECT",
            Self::Abstain => "ABSTAIN",
        }
    }

    /// The vote that a word is, in any case.
    pub(crate) fn of(word: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|vote| word.eq_ignore_ascii_case(vote.word()))
    }

    /// The vote that a word is where a vote is expected: `rejected` is as good as `reject` there.
    pub(crate) fn stated(word: &str) -> Option<Self> {
        let past = ["APPROVED", "REJECTED", "ABSTAINED"];
        let mut votes = Self::ALL.into_iter().zip(past);
        Self::of(word).or_else(|| {
            votes
                .find(|(_, past)| word.eq_ignore_ascii_case(past))
                .map(|(vote, _)| vote)
        })
    }
}

impl fmt::Display for Vote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// A vote as read from a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedVote {
    pub vote: Vote,
    /// Stated confidence, if any.
    pub confidence: Option<PerMille>,
    /// Reason, cut to [`REASONING_CHARS_MAX`].
    pub reasoning: String,
    /// Number of the passage that it names as its ground, counted from one.
    pub passage: Option<usize>,
}

/// Reason that a reply is not a vote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum VoteError {
    /// The reply is empty.
    #[error("the reply is empty")]
    Empty,
    /// It votes for nothing.
    #[error("the reply has no vote")]
    NoVote,
    /// It votes more than once, and not the same.
    #[error("the reply votes more than once")]
    Contradiction,
    /// Its confidence is no share of a whole.
    #[error("the reply's confidence is not between 0 and 100 %")]
    Confidence,
}

#[cfg(test)]
#[path = "vote_tests.rs"]
mod tests;
