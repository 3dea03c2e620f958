//! X04: the crash simulator, and the bugs it must find.

use std::num::NonZero;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use fathom_testkit::sim::{
    self, Coverage, PlantedBug, ScenarioFailure, ScenarioKind, SimInvariant,
};

/// Crashes of an ordinary test run.
const CRASHES: u64 = 10_000;

/// Runs with thirty publishes of an ordinary test run.
const PUBLISHING_SEEDS: u64 = 10_000;

/// How much longer a soak lasts.
const SOAK_FACTOR: u64 = 10;

/// The variables that name the seed to be told.
const MIXED_SEED: &str = "FATHOM_SIM_SEED";
const PUBLISHING_SEED: &str = "FATHOM_SIM_PUBLISHING_SEED";

/// Seeds within which a planted bug must show.
const BUG_SEEDS_MAX: u64 = 4_000;

/// Failures after which a test has seen enough.
const FAILURES_MAX: usize = 5;

/// Lines of a failing scenario that are shown.
const TRACE_LINES: usize = 60;

#[expect(
    clippy::disallowed_methods,
    reason = "a soak and the rerun of one seed are asked for from the command line"
)]
fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Lives through seed after seed, on all cores, until there was enough.
fn live(
    story: ScenarioKind,
    is_enough: impl Fn(&Coverage) -> bool + Sync,
) -> (Coverage, Vec<ScenarioFailure>) {
    let seeds = AtomicU64::new(0);
    let seen = Mutex::new((Coverage::default(), Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, NonZero::get) {
            scope.spawn(|| {
                loop {
                    let lived = sim::run(story, seeds.fetch_add(1, Ordering::Relaxed));
                    let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                    match lived {
                        Ok(report) => seen.0.add(&report.coverage),
                        Err(failure) => seen.1.push(failure),
                    }
                    if is_enough(&seen.0) || seen.1.len() >= FAILURES_MAX {
                        break;
                    }
                }
            });
        }
    });
    seen.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// The failures with their seeds, and the end of the first one's story.
fn tell(story: ScenarioKind, failures: &[ScenarioFailure]) -> String {
    const RERUN: &str = "cargo test -p fathom-testkit x04_simulator_one_seed -- --nocapture";
    let variable = match story {
        ScenarioKind::Mixed => MIXED_SEED,
        ScenarioKind::Publishing => PUBLISHING_SEED,
    };
    let rerun = |failure: &ScenarioFailure| {
        let seed = failure.seed;
        format!("{failure}\n    rerun: {variable}={seed} {RERUN}")
    };
    let mut told: Vec<String> = failures.iter().map(rerun).collect();
    if let Some(first) = failures.first() {
        let lines = sim::trace(story, first.seed, None);
        let skipped = lines.len().saturating_sub(TRACE_LINES);
        told.extend(lines.into_iter().skip(skipped));
    }
    told.join("\n")
}

/// X04: at whatever instant a process dies, nothing that was promised is lost, nothing is done or paid twice
/// unseen, and the run goes on.
#[test]
fn x04_simulator_ten_thousand_crashes() {
    let factor = variable("FATHOM_SOAK").map_or(1, |_| SOAK_FACTOR);
    let crashes = CRASHES * factor;
    let (coverage, failures) = live(ScenarioKind::Mixed, |seen| seen.crashes >= crashes);
    assert!(
        failures.is_empty(),
        "{}",
        tell(ScenarioKind::Mixed, &failures)
    );
    println!("{coverage}");
    for (name, count) in coverage.counts() {
        assert!(count > 0, "{name} never happened: {coverage}");
    }
}

/// X04, E13, E14: thirty publishes on a platform that loses half of its answers after the deed, by a process that
/// dies again and again. None is there twice, none that was allowed is missing, and whatever was uncertain went
/// through `unknown` and a question to the platform: the simulator looks at all of that in every seed.
#[test]
fn x04_simulator_thirty_publishes_ten_thousand_seeds() {
    let factor = variable("FATHOM_SOAK").map_or(1, |_| SOAK_FACTOR);
    let seeds = PUBLISHING_SEEDS * factor;
    let (coverage, failures) = live(ScenarioKind::Publishing, |seen| seen.finished >= seeds);
    assert!(
        failures.is_empty(),
        "{}",
        tell(ScenarioKind::Publishing, &failures)
    );
    println!("{coverage}");
    assert!(coverage.finished >= seeds);
    let must_happen = [
        ("crashes", coverage.crashes),
        ("power losses", coverage.power_losses),
        ("owners that hang", coverage.hangs),
        ("torn tails", coverage.torn_tails),
        ("full disks", coverage.full_disks),
        ("late effects", coverage.late_effects),
        ("unknown effects", coverage.unknown_effects),
        ("effects found", coverage.found_effects),
        ("effects missing", coverage.missing_effects),
        ("effects sent again", coverage.effects_again),
        ("approvals", coverage.approvals),
        ("denials", coverage.denials),
        ("expiries", coverage.expiries),
    ];
    for (name, count) in must_happen {
        assert!(count > 0, "{name} never happened: {coverage}");
    }
}

/// X04: a scenario is its seed, so a failure can be looked at again.
#[test]
fn x04_simulator_same_seed_same_journal() {
    for story in [ScenarioKind::Mixed, ScenarioKind::Publishing] {
        for seed in 0..60 {
            let run = || sim::run(story, seed).unwrap_or_else(|failure| panic!("{failure}"));
            let (first, second) = (run(), run());
            assert_eq!(first.journal, second.journal, "seed {seed}");
            assert_eq!(first.coverage, second.coverage, "seed {seed}");
        }
    }
}

/// X04: one scenario alone, told line by line; its seed comes from the command line.
#[test]
fn x04_simulator_one_seed() {
    let (story, seed) = match (variable(MIXED_SEED), variable(PUBLISHING_SEED)) {
        (_, Some(seed)) => (ScenarioKind::Publishing, seed),
        (seed, None) => (ScenarioKind::Mixed, seed.unwrap_or(1)),
    };
    for line in sim::trace(story, seed, None) {
        println!("{line}");
    }
    if let Err(failure) = sim::run(story, seed) {
        panic!("{failure}");
    }
}

/// X04: the simulator finds what it is there for. Each bug, and the promises whose breach gives it away.
#[test]
fn x04_simulator_finds_planted_bugs() {
    use SimInvariant as I;
    let bugs: [(PlantedBug, &[SimInvariant]); 17] = [
        (PlantedBug::SkippedFsync, &[I::AcknowledgedIsKept]),
        (
            PlantedBug::UnsyncedTakeOver,
            &[I::AcknowledgedIsKept, I::ChainVerifies],
        ),
        (
            PlantedBug::SequenceReused,
            &[I::Sequence, I::BooksAgree, I::HalfRule],
        ),
        (
            PlantedBug::ChainUnchecked,
            &[I::AcknowledgedIsKept, I::ChainVerifies],
        ),
        (
            PlantedBug::OwnerNotFenced,
            &[I::AcknowledgedIsKept, I::ChainVerifies],
        ),
        (PlantedBug::EffectBeforeIntent, &[I::IntentFirst]),
        (PlantedBug::CallBeforeLease, &[I::LeaseFirst]),
        (
            PlantedBug::StepTwice,
            &[I::AskedOnce, I::EffectOnce, I::ShownIsDurable],
        ),
        (PlantedBug::ProgramChanged, &[I::RefoldAgrees]),
        (PlantedBug::AnswerBeforeDurable, &[I::ShownIsDurable]),
        (PlantedBug::WakeUpLost, &[I::Progress]),
        (PlantedBug::AttemptMixedUp, &[I::AnswersBelong]),
        (PlantedBug::ClaimForgotten, &[I::EffectOnce, I::ClaimStays]),
        (PlantedBug::SettleTwice, &[I::BooksAgree]),
        (
            PlantedBug::GrantKept,
            &[I::BooksAgree, I::NothingOpenAtFinish],
        ),
        (PlantedBug::ChildTooRich, &[I::HalfRule]),
        (
            PlantedBug::ForfeitSkipped,
            &[I::BooksCoverBill, I::BillWithinLimit],
        ),
    ];
    finds(ScenarioKind::Mixed, &bugs);
}

/// X04, E13, E14: the bugs that would publish twice, or not at all, or without a person's yes.
#[test]
fn x04_simulator_finds_bugs_planted_in_publishing() {
    use SimInvariant as I;
    let bugs: [(PlantedBug, &[SimInvariant]); 9] = [
        (PlantedBug::ClaimBeforeIntent, &[I::NothingLost]),
        (PlantedBug::ClaimFreedOnUnknown, &[I::ClaimStays]),
        (PlantedBug::ClaimKept, &[I::NothingLost]),
        (PlantedBug::FailedUnseen, &[I::EffectOnce]),
        (PlantedBug::ConfirmedUnseen, &[I::NothingLost]),
        (PlantedBug::SentAgainUnasked, &[I::EffectOnce]),
        (PlantedBug::TimeoutTakenForFailure, &[I::ClaimStays]),
        (PlantedBug::TimeoutTakenForSuccess, &[I::UnknownIsAsked]),
        (PlantedBug::ApprovalUsedTwice, &[I::ApprovalHolds]),
    ];
    finds(ScenarioKind::Publishing, &bugs);
}

/// Plants each bug in seed after seed until a promise is broken that gives it away.
fn finds(story: ScenarioKind, bugs: &[(PlantedBug, &[SimInvariant])]) {
    for &(bug, promises) in bugs {
        let caught = (0..BUG_SEEDS_MAX).find_map(|seed| sim::run_with(story, seed, bug).err());
        let promise = caught.as_ref().map(|failure| failure.violation.invariant);
        let is_meant = promise.is_some_and(|promise| promises.contains(&promise));
        assert!(is_meant, "{bug:?} looks like {caught:?}");
    }
}
