use std::sync::Mutex;

use super::*;

/// A clock that a test moves.
struct Hand(Mutex<u64>);

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        Timestamp(*self.0.lock().unwrap())
    }
}

const BEGIN: u64 = 1_700_000_000_000;
const STEP: u64 = 30_000;

struct Stack {
    clock: Arc<Hand>,
    stability: StabilityLog,
    _dir: tempfile::TempDir,
}

impl Stack {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = Arc::new(Hand(Mutex::new(BEGIN)));
        let record = GovernanceStore::open(&dir.path().join("governance.db")).unwrap();
        let stability = StabilityLog::new(record, Arc::clone(&clock) as Arc<dyn Clock>);
        // A stack that has earned its score before it is watched.
        stability
            .note(StabilitySample {
                clean_stages: 60,
                ..well()
            })
            .unwrap();
        Self {
            clock,
            stability,
            _dir: dir,
        }
    }

    fn wait(&self, millis: u64) {
        *self.clock.0.lock().unwrap() += millis;
    }

    /// Notes `beat` every 30 s for so long, in one go.
    fn live(&self, millis: u64, beat: StabilitySample) {
        let last = self.stability.record.last_sample().unwrap().unwrap();
        let mut score = last.score_milli;
        let samples = (0..millis / STEP).map(|_| {
            self.wait(STEP);
            score = score_after(score, &beat);
            StackSample {
                at: self.clock.now(),
                score_milli: score,
                prime: beat.prime,
                lite: beat.lite,
                initiative: beat.initiative,
            }
        });
        let samples: Vec<StackSample> = samples.collect();
        self.stability.record.note(&samples).unwrap();
    }

    fn broken(&self) -> Option<StabilityRule> {
        self.stability.steadiness().unwrap().broken
    }
}

fn well() -> StabilitySample {
    StabilitySample {
        clean_stages: 0,
        flawed_stages: 0,
        prime: true,
        lite: true,
        initiative: InitiativeBudget::Active,
    }
}

const HOUR: u64 = 3_600_000;

#[test]
fn g06_a_stack_is_stable_after_24_hours_and_not_after_23() {
    let stack = Stack::new();
    stack.live(23 * HOUR, well());
    let covered = Millis(23 * HOUR);
    assert_eq!(stack.broken(), Some(StabilityRule::TooShort { covered }));
    assert_eq!(
        stack.broken().unwrap().to_string(),
        "rule `24-hours`: only 23 h 0 min of 24 h 0 min observed"
    );
    stack.live(HOUR - STEP, well());
    assert!(stack.broken().is_some());
    stack.live(STEP, well());
    assert_eq!(stack.broken(), None);
    let steady = stack.stability.steadiness().unwrap();
    assert_eq!((steady.score_milli, steady.watched), (Some(1_000), WINDOW));
    stack.live(48 * HOUR, well());
    assert_eq!(stack.broken(), None);
}

#[test]
fn g06_a_gap_of_more_than_90_seconds_refuses() {
    let stack = Stack::new();
    stack.live(12 * HOUR, well());
    stack.wait(60_000);
    stack.live(12 * HOUR, well());
    assert_eq!(stack.broken(), None, "90 s are no gap");
    stack.wait(60_001);
    stack.live(HOUR, well());
    let gap = Millis(90_001);
    assert_eq!(stack.broken(), Some(StabilityRule::Gap { gap }));
    // A day later it is forgotten.
    stack.live(24 * HOUR, well());
    assert_eq!(stack.broken(), None);
    // Nobody has noted anything since.
    stack.wait(90_001);
    assert_eq!(stack.broken().map(|rule| rule.rule()), Some("no-gap"));
}

#[test]
fn g06_a_role_that_is_offline_for_more_than_90_seconds_refuses() {
    for (role, away) in [
        (
            CouncilRole::Prime,
            StabilitySample {
                prime: false,
                ..well()
            },
        ),
        (
            CouncilRole::Lite,
            StabilitySample {
                lite: false,
                ..well()
            },
        ),
    ] {
        let stack = Stack::new();
        stack.live(12 * HOUR, well());
        stack.live(2 * STEP, away);
        stack.live(12 * HOUR, well());
        assert_eq!(stack.broken(), None, "60 s of silence are none");
        stack.live(3 * STEP, away);
        stack.live(STEP, well());
        let silent = Millis(4 * STEP);
        assert_eq!(
            stack.broken(),
            Some(StabilityRule::Offline { role, silent })
        );
        stack.live(24 * HOUR, well());
        assert_eq!(stack.broken(), None);
        stack.live(4 * STEP, away);
        assert_eq!(stack.broken().map(|rule| rule.rule()), Some("online"));
    }
}

#[test]
fn g06_one_failed_cycle_of_the_loop_refuses_and_so_does_a_loop_that_is_off() {
    for (initiative, why) in [
        (InitiativeBudget::Failed, StabilityRule::LoopFailed),
        (InitiativeBudget::Off, StabilityRule::LoopOff),
    ] {
        let stack = Stack::new();
        stack.live(23 * HOUR, well());
        stack.live(
            STEP,
            StabilitySample {
                initiative,
                ..well()
            },
        );
        stack.live(HOUR, well());
        assert_eq!(stack.broken(), Some(why));
        stack.live(24 * HOUR, well());
        assert_eq!(stack.broken(), None);
    }
}

#[test]
fn g06_a_score_that_falls_under_nine_tenths_refuses() {
    let stack = Stack::new();
    stack.live(24 * HOUR, well());
    let flawed = StabilitySample {
        flawed_stages: 1,
        ..well()
    };
    stack.live(STEP, flawed);
    assert_eq!(stack.broken(), None, "0.9 is enough");
    stack.live(STEP, flawed);
    assert_eq!(stack.broken(), Some(StabilityRule::Score { milli: 810 }));
    let clean = StabilitySample {
        clean_stages: 1,
        ..well()
    };
    stack.live(HOUR, clean);
    assert_eq!(stack.broken().map(|rule| rule.rule()), Some("score"));
    stack.live(24 * HOUR, well());
    assert_eq!(stack.broken(), None);
}

#[test]
fn g06_a_score_is_earned() {
    let clean = |stages| StabilitySample {
        clean_stages: stages,
        ..well()
    };
    assert_eq!(score_after(0, &clean(0)), 0);
    assert_eq!(score_after(0, &clean(1)), 100);
    assert!(score_after(0, &clean(20)) < SCORE_MIN_MILLI);
    assert!(score_after(0, &clean(22)) >= SCORE_MIN_MILLI);
    assert_eq!(score_after(0, &clean(u32::MAX)), 1_000);
    let flawed = StabilitySample {
        flawed_stages: u32::MAX,
        ..well()
    };
    assert_eq!(score_after(1_000, &flawed), 0);
    let both = StabilitySample {
        clean_stages: 5,
        flawed_stages: 1,
        ..well()
    };
    assert_eq!(score_after(1_000, &both), 900);
}

#[test]
fn g06_nothing_noted_is_not_stable() {
    let dir = tempfile::tempdir().unwrap();
    let record = GovernanceStore::open(&dir.path().join("governance.db")).unwrap();
    let stability = StabilityLog::new(record, Arc::new(Hand(Mutex::new(BEGIN))));
    let steady = stability.steadiness().unwrap();
    assert_eq!(steady.score_milli, None);
    let covered = Millis(0);
    assert_eq!(steady.broken, Some(StabilityRule::TooShort { covered }));
}

/// A clock that stood still while the machine slept.
struct Slept;

impl Clock for Slept {
    fn now(&self) -> Timestamp {
        Timestamp(BEGIN)
    }

    fn wall(&self) -> Timestamp {
        Timestamp(BEGIN + 8 * 3_600_000)
    }
}

#[test]
fn g06_a_machine_that_slept_notes_when_it_is_and_not_when_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let record = GovernanceStore::open(&dir.path().join("governance.db")).unwrap();
    let stability = StabilityLog::new(record, Arc::new(Slept));
    assert_eq!(stability.note(well()).unwrap().at, Slept.wall());
    assert_eq!(stability.steadiness().unwrap().score_milli, Some(0));
}
