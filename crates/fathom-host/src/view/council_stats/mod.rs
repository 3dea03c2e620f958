//! Figures over councils: what they decided at each depth, what recursion changed, and how each seat votes.
//!
//! [`PastCouncil::of`] reads one run, [`CouncilStats::of`] adds many of them up. Both are pure, so a command and a server
//! can show the same numbers.

mod decisions;
mod from_journal;
mod past_council;
mod seats;

use std::collections::BTreeMap;

use fathom_core::unit::PerMille;
use serde::{Serialize, Serializer};

pub use decisions::{DecisionCounts, DecisionStats, LatencyStats, ResourceStats};
pub use past_council::{ComparisonKey, DecisionPaths, PastCouncil, pairs};
pub use seats::{SeatStats, VoteCounts};

use decisions::ReuseTrial;

/// Figures over past councils.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CouncilStats {
    pub runs: u64,
    /// By the levels of sub-chiefs that were asked, the least first.
    pub by_depth: Vec<DepthStats>,
    /// With and without recursion.
    pub compared: RecursionComparison,
    /// Every seat that was to vote; a chief comes before its sub-chiefs.
    pub chiefs: Vec<SeatStats>,
}

/// The councils that reached one depth.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DepthStats {
    /// Levels of sub-chiefs that were asked.
    pub depth: u8,
    /// Their decisions, the time they took and the amounts they used.
    #[serde(flatten)]
    pub decided: DecisionStats,
    /// Decisions that abstain because no vote was heavier than all others.
    pub tied: u64,
    /// Decisions without the vote of someone who should have voted.
    pub partial: u64,
    /// Sub-chiefs that were asked.
    pub spawns: u64,
    /// The same for one council.
    pub spawns_mean: f64,
    /// Calls that an earlier answer stood for.
    pub reused_calls: u64,
    /// Their share of all calls that would have been made.
    #[serde(serialize_with = "fraction")]
    pub reused_share: Option<PerMille>,
}

/// With and without recursion.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecursionComparison {
    /// Runs in which every chief that asked its sub-chiefs also voted by itself.
    pub same_run: DepthComparison,
    /// Questions that were asked twice of the same models about the same material, without sub-chiefs and with them.
    pub same_question: DepthComparison,
    /// All runs without sub-chiefs against all others. They are about different questions.
    pub all_runs: AllRunsComparison,
}

/// The same matter, decided without recursion and with it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DepthComparison {
    /// Number of councils that were compared.
    pub compared: u64,
    /// Those in which the decision became another one.
    pub changed: u64,
    #[serde(serialize_with = "fraction")]
    pub changed_share: Option<PerMille>,
    /// As it came out without recursion.
    pub without: DecisionStats,
    /// As it came out with it.
    pub with: DecisionStats,
}

/// Runs without recursion beside those with it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AllRunsComparison {
    /// Those that asked no sub-chief.
    pub without: DecisionStats,
    /// All others.
    pub with: DecisionStats,
}

impl CouncilStats {
    /// Adds up councils, the newest first; none when there are none.
    pub fn of(runs: &[PastCouncil]) -> Option<Self> {
        if runs.is_empty() {
            return None;
        }
        let mut depths: BTreeMap<u8, Vec<&PastCouncil>> = BTreeMap::new();
        for run in runs {
            depths.entry(run.report.depth).or_default().push(run);
        }
        let by_depth = depths.into_iter();
        Some(Self {
            runs: runs.len() as u64,
            by_depth: by_depth
                .map(|(depth, runs)| DepthStats::of(depth, &runs))
                .collect(),
            compared: RecursionComparison::of(runs),
            chiefs: SeatStats::of(runs.iter().map(|run| &run.report)),
        })
    }
}

impl DepthStats {
    fn of(depth: u8, runs: &[&PastCouncil]) -> Self {
        let sum = |number: fn(&PastCouncil) -> u64| runs.iter().map(|run| number(run)).sum();
        let spawns = sum(|run| run.report.spawns.into());
        let reused_calls: u64 = sum(|run| run.report.reused_calls);
        let calls: u64 = sum(|run| run.spent.calls);
        Self {
            depth,
            decided: DecisionStats::of(runs.iter().map(|run| ReuseTrial::of(run))),
            tied: sum(|run| run.report.tied.into()),
            partial: sum(|run| run.report.partial.into()),
            spawns,
            spawns_mean: decisions::mean(spawns, runs.len() as u64),
            reused_calls,
            // Reused calls are not in `calls`, which counts what was sent.
            reused_share: share(reused_calls, calls.saturating_add(reused_calls)),
        }
    }
}

impl RecursionComparison {
    fn of(runs: &[PastCouncil]) -> Self {
        let sides = runs.iter().filter_map(ReuseTrial::both).collect();
        let pairs = pairs(runs).into_iter();
        let pairs = pairs.map(|(without, with)| (ReuseTrial::of(without), ReuseTrial::of(with)));
        let (flat, deep): (Vec<_>, Vec<_>) = runs.iter().partition(|run| run.report.depth == 0);
        Self {
            same_run: DepthComparison::of(sides),
            same_question: DepthComparison::of(pairs.collect()),
            all_runs: AllRunsComparison {
                without: DecisionStats::of(flat.into_iter().map(ReuseTrial::of)),
                with: DecisionStats::of(deep.into_iter().map(ReuseTrial::of)),
            },
        }
    }
}

impl DepthComparison {
    fn of(sides: Vec<(ReuseTrial, ReuseTrial)>) -> Self {
        let compared = sides.len() as u64;
        let changed = sides.iter();
        let changed = changed.filter(|(without, with)| without.vote != with.vote);
        let changed = changed.count() as u64;
        let (without, with): (Vec<_>, Vec<_>) = sides.into_iter().unzip();
        Self {
            compared,
            changed,
            changed_share: share(changed, compared),
            without: DecisionStats::of(without),
            with: DecisionStats::of(with),
        }
    }
}

/// `part` of `whole`; none of nothing.
fn share(part: u64, whole: u64) -> Option<PerMille> {
    (whole > 0).then(|| PerMille::share(part, whole))
}

/// Writes a share as a number between 0 and 1.
pub fn fraction<S: Serializer>(share: &Option<PerMille>, to: S) -> Result<S::Ok, S::Error> {
    share.map(PerMille::fraction).serialize(to)
}

#[cfg(test)]
#[path = "samples_tests.rs"]
pub(crate) mod samples;

#[cfg(test)]
#[path = "figures_tests.rs"]
mod tests;
