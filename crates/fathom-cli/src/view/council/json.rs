//! What a result says beyond the usual when a council decided: always all keys.

use fathom_core::id::{EpisodeId, RunId};
use fathom_core::unit::PerMille;
use fathom_programs::council::complexity::ComplexityAssessment;
use fathom_programs::council::{
    ChiefsOnlyResult, CouncilReport, ReusedAnswer, SampledVotes, SeatFailure, SeatReport, SeatVote,
    Vote,
};
use serde::Serialize;
use serde_json::Value;

/// The keys of a council's result.
#[derive(Debug, Default, Serialize)]
pub(crate) struct CouncilJson {
    vote: Option<Vote>,
    confidence: Option<f64>,
    agreement: Option<f64>,
    tied: bool,
    partial: bool,
    dissent: Vec<String>,
    reasoning: Option<String>,
    votes: Vec<SeatJson>,
    complexity: ComplexityAssessment,
    depth_reached: u8,
    spawns: u32,
    reused_calls: u64,
    without_recursion: Option<AloneJson>,
}

/// A seat with all below it.
#[derive(Debug, Serialize)]
struct SeatJson {
    chief: String,
    vote: Option<Vote>,
    confidence: Option<f64>,
    reasoning: Option<String>,
    failure: Option<FailureJson>,
    /// As `docs/a.md:41`.
    source: Option<String>,
    agreement: Option<f64>,
    samples: Option<SampledVotes>,
    reused: Option<ReusedJson>,
    without_recursion: Option<AloneJson>,
    episode: Option<EpisodeId>,
    tokens: u64,
    calls: u64,
    elapsed_ms: u64,
    children: Vec<SeatJson>,
}

/// Why a seat has no vote.
#[derive(Debug, Serialize)]
struct FailureJson {
    kind: &'static str,
    message: String,
    /// How the call failed, or what is wrong with the reply, in one word.
    detail: Option<Value>,
}

#[derive(Debug, Serialize)]
struct ReusedJson {
    run: RunId,
    similarity: f64,
}

/// What would have come of it without sub-chiefs.
#[derive(Debug, Serialize)]
struct AloneJson {
    vote: Vote,
    confidence: f64,
    /// Of the whole council only.
    agreement: Option<f64>,
    elapsed_ms: Option<u64>,
}

impl From<CouncilReport> for CouncilJson {
    fn from(report: CouncilReport) -> Self {
        let has_vote = report.vote.is_some();
        Self {
            vote: report.vote,
            confidence: has_vote.then(|| report.confidence.fraction()),
            agreement: has_vote.then(|| report.agreement.fraction()),
            tied: report.tied,
            partial: report.partial,
            dissent: report.dissent,
            reasoning: has_vote.then_some(report.reasoning),
            votes: report.votes.into_iter().map(SeatJson::from).collect(),
            complexity: report.complexity,
            depth_reached: report.depth,
            spawns: report.spawns,
            reused_calls: report.reused_calls,
            without_recursion: report.alone.map(AloneJson::from),
        }
    }
}

impl From<SeatReport> for SeatJson {
    fn from(seat: SeatReport) -> Self {
        let alone = seat.alone.map(|cast| AloneJson {
            vote: cast.vote,
            confidence: cast.confidence.fraction(),
            agreement: None,
            elapsed_ms: seat.alone_ms.map(|elapsed| elapsed.0),
        });
        let (vote, confidence, reasoning, source) = match seat.cast {
            Some(SeatVote {
                vote,
                confidence,
                reasoning,
                source,
            }) => {
                let source = source.map(|source| format!("{}:{}", source.source, source.line));
                (
                    Some(vote),
                    Some(confidence.fraction()),
                    Some(reasoning),
                    source,
                )
            }
            None => (None, None, None, None),
        };
        Self {
            chief: seat.seat,
            vote,
            confidence,
            reasoning,
            failure: seat.failure.as_ref().map(FailureJson::from),
            source,
            agreement: seat.agreement.map(PerMille::fraction),
            samples: seat.samples,
            reused: seat
                .reused
                .map(|ReusedAnswer { run, similarity }| ReusedJson {
                    run,
                    similarity: similarity.fraction(),
                }),
            without_recursion: alone,
            episode: seat.episode,
            tokens: seat.tokens,
            calls: seat.calls,
            elapsed_ms: seat.elapsed.0,
            children: seat.children.into_iter().map(Self::from).collect(),
        }
    }
}

impl From<&SeatFailure> for FailureJson {
    fn from(failure: &SeatFailure) -> Self {
        let (kind, detail) = match failure {
            SeatFailure::Call { failure, .. } => ("call", serde_json::to_value(failure).ok()),
            SeatFailure::Unreadable(why) => {
                let why = serde_json::to_value(why).ok();
                ("unreadable", why.and_then(|why| why.get("why").cloned()))
            }
            SeatFailure::Refused { .. } => ("refused", None),
            SeatFailure::Late => ("late", None),
            SeatFailure::NoVotes => ("no_votes", None),
            SeatFailure::Stopped { .. } => ("stopped", None),
        };
        Self {
            kind,
            message: failure.to_string(),
            detail,
        }
    }
}

impl From<ChiefsOnlyResult> for AloneJson {
    fn from(alone: ChiefsOnlyResult) -> Self {
        Self {
            vote: alone.vote,
            confidence: alone.confidence.fraction(),
            agreement: Some(alone.agreement.fraction()),
            elapsed_ms: Some(alone.elapsed.0),
        }
    }
}
