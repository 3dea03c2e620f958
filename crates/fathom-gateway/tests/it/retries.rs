//! Which failures are worth another try.

use fathom_core::unit::Millis;
use fathom_gateway::{AttemptFailure, WAIT_MAX, retry};

fn waits(trouble: AttemptFailure, idempotent: bool) -> Vec<u64> {
    let waits = (1..100).map(|tries| retry(trouble, tries, idempotent));
    waits.map_while(|wait| wait.map(|wait| wait.0)).collect()
}

#[test]
fn e13_each_trouble_has_its_tries() {
    let limited = AttemptFailure::RateLimited { after: None };
    assert_eq!(waits(limited, true), [1_000, 2_000, 4_000]);
    assert_eq!(waits(limited, false), [1_000, 2_000, 4_000]);
    assert_eq!(waits(AttemptFailure::ServerFault, true), [1_000, 2_000]);
    assert_eq!(waits(AttemptFailure::NotSent, false), [1_000, 2_000]);
    assert_eq!(waits(AttemptFailure::Other, true), [0; 0]);
}

#[test]
fn e14_what_may_have_happened_is_not_sent_again() {
    assert_eq!(waits(AttemptFailure::ServerFault, false), [0; 0]);
    assert_eq!(waits(AttemptFailure::Other, false), [0; 0]);
}

#[test]
fn a_platform_is_left_alone_as_long_as_it_wants_within_a_bound() {
    let limited = |after| AttemptFailure::RateLimited {
        after: Some(Millis(after)),
    };
    assert_eq!(waits(limited(3_000), false), [3_000, 3_000, 4_000]);
    assert_eq!(waits(limited(WAIT_MAX.0), false).len(), 3);
    assert_eq!(waits(limited(WAIT_MAX.0 + 1), false), [0; 0]);
    assert_eq!(waits(limited(u64::MAX), false), [0; 0]);
    assert_eq!(retry(limited(0), 0, true), None);
    assert_eq!(retry(limited(0), u32::MAX, true), None);
}
