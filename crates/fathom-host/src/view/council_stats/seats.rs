//! Votes of each seat.

use std::collections::BTreeMap;

use fathom_core::unit::{Millis, PerMille};
use fathom_programs::council::{CouncilReport, SeatReport, Vote};
use serde::Serialize;

use super::decisions::rounded;
use super::{fraction, share};

/// A chief or a sub-chief, over all councils it was to vote in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SeatStats {
    /// Its path, as `IT/security`.
    pub seat: String,
    /// Seats above it: none above a chief.
    pub depth: usize,
    /// Times that it was really asked.
    pub asked: u64,
    pub votes: VoteCounts,
    /// Times that it should have voted and did not.
    pub failures: u64,
    /// Mean confidence of its votes.
    #[serde(serialize_with = "fraction")]
    pub confidence: Option<PerMille>,
    /// Votes that were not the council's decision.
    pub dissents: u64,
    /// Share of its votes that were the council's decision.
    #[serde(serialize_with = "fraction")]
    pub agreement: Option<PerMille>,
    /// Mean agreement of those it asked.
    #[serde(serialize_with = "fraction")]
    pub agreement_below: Option<PerMille>,
    /// Mean time from question to vote.
    pub latency_ms_mean: Option<Millis>,
    /// Tokens it used, those it asked included.
    pub tokens: u64,
    /// The same for one time it was asked.
    pub tokens_mean: Option<u64>,
    /// Calls it made, those it asked included.
    pub calls: u64,
    /// Calls that an earlier answer stood for, those of the seats it asked included.
    pub reused_calls: u64,
}

/// Number of times that a seat cast each vote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct VoteCounts {
    pub approve: u64,
    pub reject: u64,
    /// Neither.
    pub abstain: u64,
}

impl VoteCounts {
    /// All of them.
    pub const fn all(&self) -> u64 {
        self.approve + self.reject + self.abstain
    }
}

impl SeatStats {
    pub(super) fn of<'a>(reports: impl IntoIterator<Item = &'a CouncilReport>) -> Vec<Self> {
        let mut seats = SeatsByName::default();
        for report in reports {
            seats.add(&[], report.vote, &report.votes);
        }
        let sums = seats.0.into_iter();
        sums.map(|(path, sums)| sums.figures(&path)).collect()
    }
}

/// Sums by path. The paths sort a seat before those below it.
#[derive(Default)]
struct SeatsByName(BTreeMap<Vec<String>, SeatSums>);

impl SeatsByName {
    fn add(&mut self, above: &[String], decision: Option<Vote>, seats: &[SeatReport]) {
        for seat in seats {
            let mut path = above.to_vec();
            path.push(seat.seat.clone());
            self.add(&path, decision, &seat.children);
            self.0.entry(path).or_default().add(decision, seat);
        }
    }
}

#[derive(Default)]
struct SeatSums {
    asked: u64,
    votes: VoteCounts,
    failures: u64,
    confidence: u64,
    dissents: u64,
    below: u64,
    below_count: u64,
    elapsed: u64,
    tokens: u64,
    calls: u64,
    reused_calls: u64,
}

impl SeatSums {
    fn add(&mut self, decision: Option<Vote>, seat: &SeatReport) {
        match &seat.cast {
            Some(cast) => {
                let number = match cast.vote {
                    Vote::Approve => &mut self.votes.approve,
                    Vote::Reject => &mut self.votes.reject,
                    Vote::Abstain => &mut self.votes.abstain,
                };
                *number += 1;
                self.confidence += u64::from(cast.confidence.get());
                // Without a decision every vote counts as a dissent, since none prevailed.
                self.dissents += u64::from(decision != Some(cast.vote));
            }
            None => self.failures += 1,
        }
        if let Some(below) = seat.agreement {
            self.below += u64::from(below.get());
            self.below_count += 1;
        }
        // One that was refused, or was still at it when the others ended, has no times to tell.
        if seat.episode.is_some() {
            self.asked += 1;
            self.elapsed = self.elapsed.saturating_add(seat.elapsed.0);
        }
        self.tokens = self.tokens.saturating_add(seat.tokens);
        self.calls = self.calls.saturating_add(seat.calls);
        self.reused_calls = self.reused_calls.saturating_add(seat.reused_calls);
    }

    fn figures(self, path: &[String]) -> SeatStats {
        let votes = self.votes.all();
        SeatStats {
            seat: path.join("/"),
            depth: path.len().saturating_sub(1),
            asked: self.asked,
            votes: self.votes,
            failures: self.failures,
            confidence: share(self.confidence, votes * 1000),
            dissents: self.dissents,
            agreement: share(votes - self.dissents, votes),
            agreement_below: share(self.below, self.below_count * 1000),
            latency_ms_mean: rounded(self.elapsed, self.asked).map(Millis),
            tokens: self.tokens,
            tokens_mean: rounded(self.tokens, self.asked),
            calls: self.calls,
            reused_calls: self.reused_calls,
        }
    }
}
