//! Checks that a run within the charter's own limits has room for its council.

use std::ops::Range;

use fathom_core::budget::amounts::Budget;
use fathom_core::budget::ledger::CLOSING_PERCENT;
use fathom_core::contract::RecursionPolicy;
use fathom_core::contract::spawn::SpawnClass;
use fathom_programs::council::complexity::DetectorConfig;
use fathom_programs::council::{CHIEF, SUB_CHIEF};
use fathom_programs::council::{CouncilSeat, SynthesisMode};

use super::super::problem::CharterProblem;
use super::{BallotRules, CouncilCharter, TableReader};
use crate::config::limit_tables::RecursionTable;

/// Limits of a run under the charter.
pub(in crate::charter) struct RunBounds<'a> {
    pub(in crate::charter) policy: &'a RecursionPolicy,
    /// Source of the limits' keys, if the file has the table.
    pub(in crate::charter) table: Option<&'a RecursionTable>,
    pub(in crate::charter) budget: Budget,
}

/// Resources that the largest assembly of some seats needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct SeatNeed {
    /// Levels of episodes below it.
    levels: u64,
    /// Children of one episode.
    children: u64,
    /// Episodes.
    episodes: u64,
    /// Calls that the seat must be granted so that no seat below it is refused one.
    calls: u64,
}

impl SeatNeed {
    fn max(self, other: Self) -> Self {
        Self {
            levels: self.levels.max(other.levels),
            children: self.children.max(other.children),
            episodes: self.episodes.max(other.episodes),
            calls: self.calls.max(other.calls),
        }
    }

    /// Of the whole council.
    fn of(chiefs: &[CouncilSeat], rules: &BallotRules) -> Self {
        Self::of_asking(chiefs, chiefs.len(), rules.depth_max, rules)
    }

    /// Of one that asks `asked_max` of these seats, which may ask `levels` more.
    fn of_asking(seats: &[CouncilSeat], asked_max: usize, levels: u8, rules: &BallotRules) -> Self {
        let each = seats.iter().map(|seat| Self::of_seat(seat, levels, rules));
        let mut each: Vec<Self> = each.collect();
        // The seats asked are not known before a run, so the check assumes the most expensive ones.
        each.sort_by_key(|need| std::cmp::Reverse(need.episodes));
        each.truncate(asked_max);
        let asked = each.len() as u64;
        let most = each.iter().copied().fold(Self::default(), Self::max);
        let synthesis = u64::from(rules.synthesis == SynthesisMode::Model);
        Self {
            levels: 1 + most.levels,
            children: most.children.max(asked),
            episodes: 1 + each.iter().map(|need| need.episodes).sum::<u64>(),
            // Siblings get equal shares of what is left, and one share is kept back.
            calls: synthesis + (asked + 1) * most.calls,
        }
    }

    fn of_seat(seat: &CouncilSeat, levels: u8, rules: &BallotRules) -> Self {
        let votes = rules.votes();
        // Past the closing mark there is but one more call.
        let alone = votes * 100 / CLOSING_PERCENT + 1;
        if levels == 0 || seat.sub_chiefs.is_empty() {
            return Self {
                episodes: 1,
                calls: alone,
                ..Self::default()
            };
        }
        let asked_max = usize::from(rules.sub_chiefs_max);
        let below = Self::of_asking(&seat.sub_chiefs, asked_max, levels - 1, rules);
        let compared = if rules.compare { votes } else { 0 };
        Self {
            calls: (below.calls + compared).max(alone),
            ..below
        }
    }
}

/// Tells what a run has no room for.
pub(super) fn check(
    council: &CouncilCharter,
    span: &Range<usize>,
    bounds: &RunBounds<'_>,
    desk: &mut TableReader<'_>,
) {
    if council.chiefs.is_empty() {
        return;
    }
    // A charter does not know which models its runs use, so both profiles must fit.
    let need = [&council.remote, &council.local].map(|rules| SeatNeed::of(&council.chiefs, rules));
    let need = need.into_iter().fold(SeatNeed::default(), SeatNeed::max);
    let place = |key: &str| {
        let said = bounds.table.and_then(|table| table.span(key));
        said.unwrap_or_else(|| span.clone())
    };
    let policy = bounds.policy;
    let numbers = [
        ("max_depth", policy.max_depth.into(), need.levels),
        ("max_children", policy.max_children.into(), need.children),
        (
            "max_total_episodes",
            policy.max_total_episodes.into(),
            need.episodes,
        ),
    ];
    for (key, value, needed) in numbers {
        if value < needed {
            let table = "recursion";
            let flaw = CharterProblem::NoRoom {
                table,
                key,
                value,
                needed,
            };
            desk.problem(&place(key), flaw);
        }
    }
    let (table, key) = ("budget", "episodes");
    let (value, needed) = (bounds.budget.amounts.episodes, need.episodes);
    if value < needed {
        desk.problem(
            span,
            CharterProblem::NoRoom {
                table,
                key,
                value,
                needed,
            },
        );
    }
    let mut child_types = vec![CHIEF];
    if need.levels > 1 {
        child_types.push(SUB_CHIEF);
    }
    for child_type in child_types {
        let is_in = |types: &[String]| types.iter().any(|known| known == child_type);
        let (word, key) = (child_type, "allowed_child_types");
        if !is_in(&policy.allowed_child_types) {
            desk.problem(&place(key), CharterProblem::NotAllowed { word, key });
        }
        if is_in(&policy.forbidden_child_types) {
            let flaw = CharterProblem::Forbidden { child_type };
            desk.problem(&place("forbidden_child_types"), flaw);
        }
    }
    if !policy.allowed_classes.contains(&SpawnClass::Work) {
        let (word, key) = ("work", "allowed_classes");
        desk.problem(&place(key), CharterProblem::NotAllowed { word, key });
    }
    let calls = bounds.budget.amounts.calls;
    if calls < need.calls {
        let needed = need.calls;
        // A warning only: this is the worst case, and a council that runs short of calls still ends with a result.
        desk.warning(span, CharterProblem::FewCalls { calls, needed });
    }
    let signals = signals(&council.detector);
    let signals_min = council.detector.score_min;
    if need.levels > 1 && signals < signals_min {
        desk.warning(
            span,
            CharterProblem::NeverComplex {
                signals,
                signals_min,
            },
        );
    }
}

/// Maximum number of signals that a question can give with these lists.
fn signals(detector: &DetectorConfig) -> u32 {
    let enough = |list: usize, least: u32| list as u64 >= u64::from(least);
    let possible = [
        true,
        enough(detector.uncertainty.len(), detector.uncertainty_min),
        enough(detector.domains.len(), detector.domains_min),
        !detector.factor_openers.is_empty() || enough(detector.factors.len(), detector.factors_min),
    ];
    possible.into_iter().map(u32::from).sum()
}
