//! X04: the crash simulator, and the bugs it must find.

use std::num::NonZero;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use fathom_testkit::sim::{self, Bug, Coverage, Failure, Invariant};

/// Crashes of an ordinary test run.
const CRASHES: u64 = 10_000;

/// How much longer a soak lasts.
const SOAK_FACTOR: u64 = 10;

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

/// Lives through seed after seed, on all cores, until there were enough crashes.
fn crash(crashes: u64) -> (Coverage, Vec<Failure>) {
    let seeds = AtomicU64::new(0);
    let seen = Mutex::new((Coverage::default(), Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, NonZero::get) {
            scope.spawn(|| {
                loop {
                    let lived = sim::run(seeds.fetch_add(1, Ordering::Relaxed));
                    let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                    match lived {
                        Ok(report) => seen.0.add(&report.coverage),
                        Err(failure) => seen.1.push(failure),
                    }
                    if seen.0.crashes >= crashes || seen.1.len() >= FAILURES_MAX {
                        break;
                    }
                }
            });
        }
    });
    seen.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// The failures with their seeds, and the end of the first one's story.
fn tell(failures: &[Failure]) -> String {
    const RERUN: &str = "cargo test -p fathom-testkit x04_simulator_one_seed -- --nocapture";
    let rerun = |failure: &Failure| {
        let seed = failure.seed;
        format!("{failure}\n    rerun: FATHOM_SIM_SEED={seed} {RERUN}")
    };
    let mut story: Vec<String> = failures.iter().map(rerun).collect();
    if let Some(first) = failures.first() {
        let lines = sim::trace(first.seed, None);
        let skipped = lines.len().saturating_sub(TRACE_LINES);
        story.extend(lines.into_iter().skip(skipped));
    }
    story.join("\n")
}

/// X04: at whatever instant a process dies, nothing that was promised is lost, nothing is done or paid twice
/// unseen, and the run goes on.
#[test]
fn x04_simulator_ten_thousand_crashes() {
    let factor = variable("FATHOM_SOAK").map_or(1, |_| SOAK_FACTOR);
    let (coverage, failures) = crash(CRASHES * factor);
    assert!(failures.is_empty(), "{}", tell(&failures));
    println!("{coverage}");
    for (name, count) in coverage.counts() {
        assert!(count > 0, "{name} never happened: {coverage}");
    }
}

/// X04: a scenario is its seed, so a failure can be looked at again.
#[test]
fn x04_simulator_same_seed_same_journal() {
    for seed in 0..60 {
        let first = sim::run(seed).unwrap_or_else(|failure| panic!("{failure}"));
        let second = sim::run(seed).unwrap_or_else(|failure| panic!("{failure}"));
        assert_eq!(first.journal, second.journal, "seed {seed}");
        assert_eq!(first.coverage, second.coverage, "seed {seed}");
    }
}

/// X04: one scenario alone, told line by line; the seed comes from `FATHOM_SIM_SEED`.
#[test]
fn x04_simulator_one_seed() {
    let seed = variable("FATHOM_SIM_SEED").unwrap_or(1);
    for line in sim::trace(seed, None) {
        println!("{line}");
    }
    if let Err(failure) = sim::run(seed) {
        panic!("{failure}");
    }
}

/// X04: the simulator finds what it is there for. Each bug, and the promises whose breach gives it away.
#[test]
fn x04_simulator_finds_planted_bugs() {
    use Invariant as I;
    let bugs: [(Bug, &[Invariant]); 17] = [
        (Bug::SkippedFsync, &[I::AcknowledgedIsKept]),
        (
            Bug::UnsyncedTakeOver,
            &[I::AcknowledgedIsKept, I::ChainVerifies],
        ),
        (
            Bug::SequenceReused,
            &[I::Sequence, I::BooksAgree, I::HalfRule],
        ),
        (
            Bug::ChainUnchecked,
            &[I::AcknowledgedIsKept, I::ChainVerifies],
        ),
        (
            Bug::OwnerNotFenced,
            &[I::AcknowledgedIsKept, I::ChainVerifies],
        ),
        (Bug::EffectBeforeIntent, &[I::IntentFirst]),
        (Bug::CallBeforeLease, &[I::LeaseFirst]),
        (
            Bug::StepTwice,
            &[I::AskedOnce, I::EffectOnce, I::ShownIsDurable],
        ),
        (Bug::ProgramChanged, &[I::RefoldAgrees]),
        (Bug::AnswerBeforeDurable, &[I::ShownIsDurable]),
        (Bug::WakeUpLost, &[I::Progress]),
        (Bug::AttemptMixedUp, &[I::AnswersBelong]),
        (Bug::ClaimForgotten, &[I::EffectOnce]),
        (Bug::SettleTwice, &[I::BooksAgree]),
        (Bug::GrantKept, &[I::BooksAgree, I::NothingOpenAtFinish]),
        (Bug::ChildTooRich, &[I::HalfRule]),
        (
            Bug::ForfeitSkipped,
            &[I::BooksCoverBill, I::BillWithinLimit],
        ),
    ];
    for (bug, promises) in bugs {
        let caught = (0..BUG_SEEDS_MAX).find_map(|seed| sim::run_with(seed, bug).err());
        let Some(failure) = caught else {
            panic!("{bug:?} is not found in {BUG_SEEDS_MAX} seeds");
        };
        println!("{bug:?}: {failure}");
        let promise = failure.violation.invariant;
        assert!(promises.contains(&promise), "{bug:?} looks like {failure}");
    }
}
