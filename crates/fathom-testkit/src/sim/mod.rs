//! A deterministic simulator: thousands of crashes a second on a disk that forgets, a provider that bills and a
//! platform that loses answers, with every promise of the core checked between any two events.
//!
//! A seed is a whole scenario. The same seed gives the same journal, bit by bit, so a failure is rerun alone with
//! [`trace`].

mod agenda;
mod approvals;
mod audit;
mod audit_ledger;
mod bug;
mod coverage;
mod crash_points;
mod disk;
mod effect_history;
mod effect_sending;
mod gateway;
mod host;
mod journal;
mod oracle;
mod owner;
mod people;
mod platform;
mod provider;
mod publishing;
pub(crate) mod rng;
mod scenario;
mod violation;
mod world;

use std::fmt;

use fathom_core::budget::ledger::{BudgetAccounts, Ledger};
use fathom_core::contract::stop::StopReason;
use fathom_core::id::Digest;

pub use bug::PlantedBug;
pub use coverage::Coverage;
pub use violation::{InvariantViolation, SimInvariant};

use bug::{CHILD_TOO_RICH, FORFEIT_SKIPPED, GRANT_KEPT, MiscountingBug, SETTLE_TWICE};
use world::SimWorld;

/// Report of a scenario that kept every promise.
#[derive(Clone, Debug)]
pub struct ScenarioReport {
    /// Number of times each event happened.
    pub coverage: Coverage,
    /// A digest over all records of the journal.
    pub journal: Digest,
    /// Reason for the final stop of the run.
    pub stop: StopReason,
}

/// A promise that was broken.
#[derive(Clone, Debug)]
pub struct ScenarioFailure {
    /// The seed that shows it.
    pub seed: u64,
    /// The broken promise, with details.
    pub violation: InvariantViolation,
}

impl fmt::Display for ScenarioFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seed {}: {}", self.seed, self.violation)
    }
}

impl std::error::Error for ScenarioFailure {}

/// Feature that the scenarios of all seeds have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScenarioKind {
    /// Anything: calls, children, effects, people, and whatever goes wrong with them.
    Mixed,
    /// Thirty things to publish, on a platform that does not look whether it has them already, loses half of its
    /// answers after the deed, and can be asked what happened. Half of them need a person's yes.
    Publishing,
}

/// Lives through the scenario of a seed.
pub fn run(story: ScenarioKind, seed: u64) -> Result<ScenarioReport, ScenarioFailure> {
    let (outcome, _) = live(story, seed, None, false);
    outcome.map_err(|violation| ScenarioFailure { seed, violation })
}

/// Lives through the scenario of a seed with a bug planted in it.
pub fn run_with(
    story: ScenarioKind,
    seed: u64,
    bug: PlantedBug,
) -> Result<ScenarioReport, ScenarioFailure> {
    let (outcome, _) = live(story, seed, Some(bug), false);
    outcome.map_err(|violation| ScenarioFailure { seed, violation })
}

/// Everything that happens in the scenario of a seed, line by line.
pub fn trace(story: ScenarioKind, seed: u64, bug: Option<PlantedBug>) -> Vec<String> {
    let (outcome, mut lines) = live(story, seed, bug, true);
    lines.push(match outcome {
        Ok(report) => format!("{}: {}", report.stop, report.coverage),
        Err(violation) => violation.to_string(),
    });
    lines
}

type ScenarioRun = (Result<ScenarioReport, InvariantViolation>, Vec<String>);

fn live(story: ScenarioKind, seed: u64, bug: Option<PlantedBug>, is_traced: bool) -> ScenarioRun {
    match bug {
        Some(PlantedBug::SettleTwice) => {
            live_by::<MiscountingBug<SETTLE_TWICE>>(story, seed, bug, is_traced)
        }
        Some(PlantedBug::GrantKept) => {
            live_by::<MiscountingBug<GRANT_KEPT>>(story, seed, bug, is_traced)
        }
        Some(PlantedBug::ChildTooRich) => {
            live_by::<MiscountingBug<CHILD_TOO_RICH>>(story, seed, bug, is_traced)
        }
        Some(PlantedBug::ForfeitSkipped) => {
            live_by::<MiscountingBug<FORFEIT_SKIPPED>>(story, seed, bug, is_traced)
        }
        _ => live_by::<Ledger>(story, seed, bug, is_traced),
    }
}

fn live_by<L: BudgetAccounts>(
    story: ScenarioKind,
    seed: u64,
    bug: Option<PlantedBug>,
    is_traced: bool,
) -> ScenarioRun {
    SimWorld::<L>::new(story, seed, bug, is_traced).live()
}
