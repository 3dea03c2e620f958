//! Stability of the stack over time.
//!
//! The score is the recent share of clean stages: every finished stage moves it a tenth of the way to 1 (its
//! verification succeeded and nobody had to interrupt it) or to 0. It begins at 0, so it is earned: 22 clean stages
//! lead to 0.9, and one flawed stage takes a tenth away. The subject of the stages has no influence.

use std::sync::Arc;

use fathom_core::council_bus::{CouncilRole, SILENCE_MAX};
use fathom_core::unit::{Millis, Timestamp};
use fathom_store::{GovernanceStore, InitiativeBudget, StackSample, StoreError};
use serde::Serialize;

use super::error::StabilityRule;
use crate::clock::Clock;

/// For how long the stack must have been stable.
pub const WINDOW: Millis = Millis(24 * 3_600_000);

/// The least score, in thousandths.
pub const SCORE_MIN_MILLI: u16 = 900;

/// The score of a stack of which all is well, in thousandths.
const SCORE_MAX_MILLI: u16 = 1_000;

/// Share of the way that a stage moves the score: one part in this many.
const WEIGHT: u16 = 10;

/// Most stages of one beat that count; more of them would not move the score any more.
// A score does not move further after this many stages of one kind; it bounds the loop for a damaged counter.
const STAGES_MAX: u32 = 256;

/// Events since the last beat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StabilitySample {
    /// Stages whose verification succeeded without an interrupt.
    pub clean_stages: u32,
    /// Stages that were interrupted, or whose verification failed.
    pub flawed_stages: u32,
    /// True if Prime responded.
    pub prime: bool,
    /// True if Lite responded.
    pub lite: bool,
    /// State of the initiative loop.
    pub initiative: InitiativeBudget,
}

/// Stability of the stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StabilityStatus {
    /// The newest score, in thousandths.
    pub score_milli: Option<u16>,
    /// For how long it has been watched without a gap.
    pub watched: Millis,
    /// The first rule that it does not meet; none when a session may be held.
    #[serde(serialize_with = "as_text")]
    pub broken: Option<StabilityRule>,
}

impl StabilityStatus {
    /// Status of a stack that was never watched.
    pub(super) const fn unwatched() -> Self {
        let watched = Millis(0);
        Self {
            score_milli: None,
            watched,
            broken: Some(StabilityRule::TooShort { covered: watched }),
        }
    }
}

#[expect(
    clippy::ref_option,
    reason = "this is the form that the derived code calls"
)]
fn as_text<S: serde::Serializer>(broken: &Option<StabilityRule>, to: S) -> Result<S::Ok, S::Error> {
    broken.map(|broken| broken.to_string()).serialize(to)
}

/// Notes how the stack stands, and tells whether it has been stable.
pub struct StabilityLog {
    record: GovernanceStore,
    clock: Arc<dyn Clock>,
}

impl StabilityLog {
    /// Keeps samples in this record, by the wall time of this clock: a machine that slept was not watched.
    pub fn new(record: GovernanceStore, clock: Arc<dyn Clock>) -> Self {
        Self { record, clock }
    }

    /// Notes how the stack stands now. Whoever runs the initiative loop calls it every 30 s at least.
    pub fn note(&self, beat: StabilitySample) -> Result<StackSample, StoreError> {
        let last = self.record.last_sample()?;
        let sample = StackSample {
            // Wall time, since samples of several processes and days are compared.
            at: self.clock.wall(),
            score_milli: score_after(last.map_or(0, |last| last.score_milli), &beat),
            prime: beat.prime,
            lite: beat.lite,
            initiative: beat.initiative,
        };
        self.record.note(&[sample])?;
        Ok(sample)
    }

    /// Current stability of the stack.
    pub fn steadiness(&self) -> Result<StabilityStatus, StoreError> {
        let now = self.clock.wall();
        let samples = self
            .record
            .samples(Timestamp(now.0.saturating_sub(WINDOW.0)), now)?;
        Ok(StabilityStatus {
            score_milli: samples.last().map(|last| last.score_milli),
            watched: watched(&samples, now),
            broken: broken(&samples, now),
        })
    }
}

/// The score after what happened.
fn score_after(score: u16, beat: &StabilitySample) -> u16 {
    // Half up on the way to 1, so that it is reached; the flaws come last and are not hidden by what went well.
    let up = |score: u16, _| score + (SCORE_MAX_MILLI.saturating_sub(score)).div_ceil(WEIGHT);
    let down = |score: u16, _| score - score.div_ceil(WEIGHT);
    let score = (0..beat.clean_stages.min(STAGES_MAX)).fold(score.min(SCORE_MAX_MILLI), up);
    (0..beat.flawed_stages.min(STAGES_MAX)).fold(score, down)
}

/// For how long there has been no gap.
fn watched(samples: &[StackSample], now: Timestamp) -> Millis {
    let mut since = now;
    for sample in samples.iter().rev() {
        if since.since(sample.at) > SILENCE_MAX {
            break;
        }
        since = sample.at;
    }
    Millis(now.since(since).0.min(WINDOW.0))
}

/// The first rule that these samples do not meet: those of the last 24 h, and the one before them.
fn broken(samples: &[StackSample], now: Timestamp) -> Option<StabilityRule> {
    let from = Timestamp(now.0.saturating_sub(WINDOW.0));
    // The store hands out the sample before the window, too; without one, the stack was not watched for all of it.
    let reaches_back = samples.first().is_some_and(|first| first.at <= from);
    if !reaches_back {
        let covered = watched(samples, now);
        return Some(StabilityRule::TooShort { covered });
    }
    let silence = |is_heard: &dyn Fn(&StackSample) -> bool| {
        let heard = samples.iter().filter(|sample| is_heard(sample));
        // A silence that lasts until now counts as well.
        let ends = heard.map(|sample| sample.at).chain([now]);
        // The window begins within a silence that counts from its own beginning.
        let mut last = samples.first().map_or(now, |first| first.at);
        let mut longest = Millis(0);
        for at in ends {
            longest = longest.max(at.since(last));
            last = at;
        }
        (longest > SILENCE_MAX).then_some(longest)
    };
    if let Some(gap) = silence(&|_| true) {
        return Some(StabilityRule::Gap { gap });
    }
    let lowest = samples.iter().map(|sample| sample.score_milli).min();
    if let Some(milli) = lowest.filter(|milli| *milli < SCORE_MIN_MILLI) {
        return Some(StabilityRule::Score { milli });
    }
    if let Some(silent) = silence(&|sample| sample.prime) {
        let role = CouncilRole::Prime;
        return Some(StabilityRule::Offline { role, silent });
    }
    if let Some(silent) = silence(&|sample| sample.lite) {
        let role = CouncilRole::Lite;
        return Some(StabilityRule::Offline { role, silent });
    }
    samples.iter().find_map(|sample| match sample.initiative {
        InitiativeBudget::Active => None,
        InitiativeBudget::Failed => Some(StabilityRule::LoopFailed),
        InitiativeBudget::Off => Some(StabilityRule::LoopOff),
    })
}

#[cfg(test)]
#[path = "stability_tests.rs"]
mod tests;
