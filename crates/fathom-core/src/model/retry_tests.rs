use proptest::prelude::*;
use proptest::test_runner::Config;

use super::*;

fn failure(kind: FailureKind, retry_after: Option<Millis>) -> ModelFailure {
    ModelFailure {
        retry_after,
        ..ModelFailure::unsent(kind, "")
    }
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::default() })]

    #[test]
    fn x05_a_pause_lies_between_half_and_all_of_its_bound(
        attempt in any::<u16>(),
        jitter in any::<u16>(),
    ) {
        let failure = failure(FailureKind::RateLimited, None);
        match pause(&failure, attempt, jitter) {
            None => prop_assert!(attempt >= RATE_LIMITED_ATTEMPTS_MAX),
            Some(Millis(pause)) => {
                prop_assert!(attempt < RATE_LIMITED_ATTEMPTS_MAX);
                let doublings = u32::from(attempt.saturating_sub(1));
                let whole = (BACKOFF.0 << doublings).min(BACKOFF_MAX.0);
                prop_assert!((whole / 2..=whole).contains(&pause));
            }
        }
    }

    #[test]
    fn x05_a_pause_is_never_shorter_than_the_provider_asks(
        asked in any::<u64>(),
        attempt in 1..ATTEMPTS_MAX,
        jitter in any::<u16>(),
    ) {
        let failure = failure(FailureKind::Server, Some(Millis(asked)));
        let pause = pause(&failure, attempt, jitter).expect("tries are left");
        prop_assert!(pause >= Millis(asked));
        prop_assert!(pause <= Millis(asked.max(BACKOFF_MAX.0)));
    }
}

#[test]
fn x05_what_cannot_pass_is_never_tried_again_whatever_is_asked() {
    let asked = Some(Millis(1));
    for kind in [
        FailureKind::CircuitOpen,
        FailureKind::Auth,
        FailureKind::Rejected,
        FailureKind::Refused,
        FailureKind::Empty,
        FailureKind::Truncated,
        FailureKind::Malformed,
        FailureKind::TooLarge,
        FailureKind::Cancelled,
    ] {
        assert_eq!(pause(&failure(kind, asked), 1, 0), None, "{kind}");
    }
}
