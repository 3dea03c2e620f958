//! Report of a council: the votes as a tree, and the decision.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::complexity::ComplexityAssessment;
use super::vote::{Vote, VoteError};
use fathom_core::id::{EpisodeId, RunId};
use fathom_core::model::failure::FailureKind;
use fathom_core::unit::{Millis, PerMille};

/// A place in the material.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceRef {
    /// File or other source, as the user named it.
    pub source: String,
    /// The line, counted from one.
    pub line: u32,
}

/// Reason that a seat has no vote. Such a seat is left out of the weighing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SeatFailure {
    /// Its model call failed.
    Call {
        failure: FailureKind,
        /// The cause in words.
        message: String,
    },
    /// Its reply is no vote.
    Unreadable(VoteError),
    /// The governor refused it.
    Refused { message: String },
    /// It did not come to an end in its time.
    Late,
    /// None of those it asked had a vote.
    NoVotes,
    /// Its episode stopped before it voted.
    Stopped { message: String },
}

impl fmt::Display for SeatFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call { failure, message } if message.is_empty() => failure.fmt(f),
            Self::Call { failure, message } => write!(f, "{failure}: {message}"),
            Self::Unreadable(why) => why.fmt(f),
            Self::Refused { message } => write!(f, "refused: {message}"),
            Self::Late => f.write_str("no vote in its time"),
            Self::NoVotes => f.write_str("none of its sub-chiefs voted"),
            Self::Stopped { message } => write!(f, "stopped: {message}"),
        }
    }
}

/// A vote, with what stands behind it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeatVote {
    pub vote: Vote,
    pub confidence: PerMille,
    pub reasoning: String,
    /// The passage it names as its ground.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceRef>,
}

/// Votes drawn by chance for one seat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampledVotes {
    /// Samples that approve.
    pub approve: u8,
    /// Samples that reject.
    pub reject: u8,
    /// Samples that abstain.
    pub abstain: u8,
    /// Calls that failed and replies that are no vote.
    pub failed: u8,
}

/// An earlier answer that stood for a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReusedAnswer {
    /// The run that gave it.
    pub run: RunId,
    /// Similarity of the earlier question; 1000 for the same packet.
    pub similarity: PerMille,
}

/// Vote of one seat, or the reason that it has none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeatReport {
    /// The seat's own name, as `security`.
    pub seat: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cast: Option<SeatVote>,
    /// Reason that it has no vote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<SeatFailure>,
    /// Agreement of those it asked, when it asked any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreement: Option<PerMille>,
    /// The votes drawn for it, when its confidence is measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<SampledVotes>,
    /// The earlier answer it used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reused: Option<ReusedAnswer>,
    /// Its vote without sub-chiefs, if compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone: Option<SeatVote>,
    /// Time until it would have voted by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone_ms: Option<Millis>,
    /// Its episode; none when it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub episode: Option<EpisodeId>,
    /// Tokens it used, those it asked included.
    pub tokens: u64,
    /// Calls it made, those it asked included.
    pub calls: u64,
    /// Calls that an earlier answer stood for, those of the seats it asked included.
    pub reused_calls: u64,
    pub elapsed: Millis,
    /// The sub-chiefs it asked.
    pub children: Vec<SeatReport>,
}

/// Decision of the chiefs without sub-chiefs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChiefsOnlyResult {
    pub vote: Vote,
    pub confidence: PerMille,
    pub agreement: PerMille,
    /// Time until the last chief had voted by itself.
    pub elapsed: Millis,
}

/// Decision of a council.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CouncilReport {
    /// The decision; none when nobody voted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vote: Option<Vote>,
    /// Mean confidence of the chiefs that agree.
    pub confidence: PerMille,
    /// Their share of the weight.
    pub agreement: PerMille,
    /// True for an abstention because no vote outweighs all others.
    pub tied: bool,
    /// True if a seat that should have voted has no vote.
    pub partial: bool,
    /// Paths of all who voted otherwise, as `IT/security`.
    pub dissent: Vec<String>,
    /// The reasons put together, by a model or as a list.
    pub reasoning: String,
    /// Assessment of the question.
    pub complexity: ComplexityAssessment,
    pub votes: Vec<SeatReport>,
    /// Levels of sub-chiefs that were asked.
    pub depth: u8,
    /// Sub-chiefs that were asked.
    pub spawns: u32,
    /// Calls that an earlier answer stood for.
    pub reused_calls: u64,
    /// Decision of the chiefs alone, if compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone: Option<ChiefsOnlyResult>,
    pub elapsed: Millis,
}
