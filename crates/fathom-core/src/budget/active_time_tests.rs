use proptest::prelude::*;
use proptest::test_runner::Config;

use super::*;

/// Something that happens to a stopwatch.
#[derive(Clone, Copy, Debug)]
enum Turn {
    Later(u64),
    Earlier(u64),
    Pause(bool),
    NewOwner(u64),
}

fn turn() -> impl Strategy<Value = Turn> {
    prop_oneof![
        4 => (0_u64..5_000).prop_map(Turn::Later),
        1 => (0_u64..5_000).prop_map(Turn::Earlier),
        2 => any::<bool>().prop_map(Turn::Pause),
        1 => (0_u64..1_000_000).prop_map(Turn::NewOwner),
    ]
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::default() })]

    #[test]
    fn e06_only_time_that_runs_forward_unpaused_and_owned_counts(
        limit in 0_u64..100_000,
        turns in prop::collection::vec(turn(), 0..40),
    ) {
        let mut now = Timestamp(1_000_000);
        let mut watch = Stopwatch::start(now, Millis(limit));
        let mut worked = 0;
        for turn in turns {
            match turn {
                Turn::Later(span) => {
                    now = now.plus(Millis(span));
                    worked += if watch.is_paused() { 0 } else { span };
                    watch.see(now);
                }
                Turn::Earlier(span) => {
                    now = Timestamp(now.0 - span);
                    watch.see(now);
                }
                Turn::Pause(paused) => watch.pause(paused),
                Turn::NewOwner(later) => {
                    now = now.plus(Millis(later));
                    watch.skip_to(now);
                }
            }
            prop_assert_eq!(watch.active(), Millis(worked));
            prop_assert_eq!(watch.left(), Millis(limit.saturating_sub(worked)));
            prop_assert_eq!(watch.deadline(), now.plus(watch.left()));
        }
    }
}

#[test]
fn e06_an_endless_limit_never_overflows() {
    let mut watch = Stopwatch::start(Timestamp(5), Millis(u64::MAX));
    assert_eq!(watch.deadline(), Timestamp(u64::MAX));
    watch.see(Timestamp(u64::MAX));
    watch.skip_to(Timestamp(0));
    watch.see(Timestamp(u64::MAX));
    assert_eq!(watch.active(), Millis(u64::MAX));
    assert_eq!(watch.left(), Millis(0));
    assert_eq!(watch.limit(), Millis(u64::MAX));
}
