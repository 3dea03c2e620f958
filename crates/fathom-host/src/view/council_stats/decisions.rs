//! Figures over several decisions.

use fathom_core::budget::amounts::Amounts;
use fathom_core::unit::{Millis, Nanodollars, PerMille};
use fathom_programs::council::Vote;
use serde::{Serialize, Serializer};

use super::past_council::PastCouncil;
use super::{fraction, share};

/// Several decisions.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DecisionStats {
    pub runs: u64,
    pub decisions: DecisionCounts,
    pub latency_ms: LatencyStats,
    /// Amounts used; `None` if they are known of no decision.
    pub used: Option<ResourceStats>,
    /// Mean confidence, where something was decided.
    #[serde(serialize_with = "fraction")]
    pub confidence: Option<PerMille>,
    /// Mean agreement, where something was decided.
    #[serde(serialize_with = "fraction")]
    pub agreement: Option<PerMille>,
}

/// Number of times that each decision was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DecisionCounts {
    pub approve: u64,
    pub reject: u64,
    /// Neither.
    pub abstain: u64,
    /// No vote was cast.
    pub none: u64,
}

/// Times that decisions took; `None` without a decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LatencyStats {
    /// On the average.
    pub mean: Option<Millis>,
    /// The time that half of them stayed within.
    pub p50: Option<Millis>,
}

/// Amounts that decisions took, together and on average.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ResourceStats {
    /// Decisions of which it is known.
    pub runs: u64,
    /// Model calls.
    pub calls: u64,
    /// Tokens.
    pub tokens: u64,
    /// Money, in dollars.
    #[serde(serialize_with = "dollars")]
    pub cost: Nanodollars,
    /// Model calls of one decision.
    pub calls_mean: f64,
    /// Tokens of one decision.
    pub tokens_mean: u64,
    /// Money of one decision, in dollars.
    #[serde(serialize_with = "dollars")]
    pub cost_mean: Nanodollars,
}

/// One decision as it is counted.
pub(super) struct ReuseTrial {
    pub(super) vote: Option<Vote>,
    confidence: PerMille,
    agreement: PerMille,
    elapsed: Millis,
    spent: Option<Amounts>,
}

impl ReuseTrial {
    /// The decision of a council.
    pub(super) fn of(run: &PastCouncil) -> Self {
        Self {
            vote: run.report.vote,
            confidence: run.report.confidence,
            agreement: run.report.agreement,
            elapsed: run.elapsed,
            spent: Some(run.spent),
        }
    }

    /// The decision of a council as it would have been without recursion, and as it was with it; none when nothing
    /// was compared or decided.
    pub(super) fn both(run: &PastCouncil) -> Option<(Self, Self)> {
        let alone = run.report.alone?;
        // Without a decision there is nothing to compare with the chiefs' own.
        run.report.vote?;
        let without = Self {
            vote: Some(alone.vote),
            confidence: alone.confidence,
            agreement: alone.agreement,
            elapsed: alone.elapsed,
            spent: run.sides.map(|sides| sides.without),
        };
        let with = Self {
            spent: run.sides.map(|sides| sides.with),
            ..Self::of(run)
        };
        Some((without, with))
    }
}

impl DecisionStats {
    pub(super) fn of(trials: impl IntoIterator<Item = ReuseTrial>) -> Self {
        let mut decided = Self::default();
        let mut times = Vec::new();
        let (mut confidence, mut agreement, mut votes) = (0, 0, 0);
        let (mut spent, mut known) = (Amounts::ZERO, 0);
        for trial in trials {
            decided.runs += 1;
            times.push(trial.elapsed);
            decided.decisions.add(trial.vote);
            if trial.vote.is_some() {
                votes += 1;
                confidence += u64::from(trial.confidence.get());
                agreement += u64::from(trial.agreement.get());
            }
            if let Some(used) = trial.spent {
                spent = spent.plus(used);
                known += 1;
            }
        }
        decided.latency_ms = LatencyStats::of(times);
        decided.used = ResourceStats::of(spent, known);
        // Over decisions only: a council without a vote has no confidence to average.
        decided.confidence = share(confidence, votes * 1000);
        decided.agreement = share(agreement, votes * 1000);
        decided
    }
}

impl DecisionCounts {
    fn add(&mut self, vote: Option<Vote>) {
        let number = match vote {
            Some(Vote::Approve) => &mut self.approve,
            Some(Vote::Reject) => &mut self.reject,
            Some(Vote::Abstain) => &mut self.abstain,
            None => &mut self.none,
        };
        *number += 1;
    }
}

impl LatencyStats {
    fn of(mut times: Vec<Millis>) -> Self {
        times.sort_unstable();
        let sum = times.iter().map(|time| time.0).sum();
        // Nearest rank, as in `fathom stats`: a latency that occurred.
        let half = times.len().div_ceil(2);
        Self {
            mean: rounded(sum, times.len() as u64).map(Millis),
            p50: half.checked_sub(1).and_then(|at| times.get(at)).copied(),
        }
    }
}

impl ResourceStats {
    fn of(spent: Amounts, runs: u64) -> Option<Self> {
        Some(Self {
            runs,
            calls: spent.calls,
            tokens: spent.tokens,
            cost: spent.money,
            calls_mean: mean(spent.calls, runs),
            tokens_mean: rounded(spent.tokens, runs)?,
            cost_mean: Nanodollars(rounded(spent.money.0, runs)?),
        })
    }
}

/// The mean as a whole number; none of nothing.
pub(super) fn rounded(sum: u64, count: u64) -> Option<u64> {
    sum.saturating_add(count / 2).checked_div(count)
}

/// The mean, to a thousandth; 0 of nothing.
pub(super) fn mean(sum: u64, count: u64) -> f64 {
    let milli = rounded(sum.saturating_mul(1000), count).unwrap_or(0);
    as_float(milli) / 1000.0
}

#[expect(
    clippy::cast_precision_loss,
    reason = "above 2^53 the last digits of a figure are of no use to anyone"
)]
const fn as_float(number: u64) -> f64 {
    number as f64
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
fn dollars<S: Serializer>(money: &Nanodollars, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(as_float(money.0) / 1e9)
}
