//! When errors trip the kill switch.

use fathom_core::effect::{EffectTarget, KillScope};
use fathom_core::unit::{Millis, Timestamp};
use fathom_gateway::{TripSwitch, TripWindow};

const WINDOW: TripWindow = TripWindow {
    errors_max: 3,
    of: 5,
    per: Millis(1_000),
};

fn target(platform: &str, account: &str, action: &str) -> EffectTarget {
    EffectTarget {
        tenant: "sample".to_owned(),
        platform: platform.to_owned(),
        account: account.to_owned(),
        action: action.to_owned(),
    }
}

fn account(name: &str) -> KillScope {
    KillScope::Account(name.to_owned())
}

/// Calls at their moments, `x` for one that failed; gives the moment at which it tripped.
fn tripped_at(calls: &[(u64, char)]) -> Option<u64> {
    let mut trips = TripSwitch::new(WINDOW);
    let target = target("p", "a", "post");
    calls.iter().find_map(|(at, end)| {
        let tripped = trips.note(&target, *end == 'x', Timestamp(*at));
        tripped.map(|_| *at)
    })
}

#[test]
fn e16_errors_in_a_window_trip() {
    assert_eq!(tripped_at(&[(0, 'x'), (1, 'x'), (2, 'x')]), Some(2));
    assert_eq!(
        tripped_at(&[(0, 'x'), (1, '.'), (2, 'x'), (3, '.'), (4, 'x')]),
        Some(4)
    );
    // Further apart than the window is long.
    assert_eq!(tripped_at(&[(0, 'x'), (1, 'x'), (1_001, 'x')]), None);
    assert_eq!(tripped_at(&[(0, 'x'), (1, 'x'), (1_000, 'x')]), Some(1_000));
    // Too few among the last five.
    assert_eq!(
        tripped_at(&[
            (0, 'x'),
            (1, 'x'),
            (2, '.'),
            (3, '.'),
            (4, '.'),
            (5, 'x'),
            (6, '.')
        ]),
        None
    );
}

#[test]
fn e16_the_narrowest_scope_trips() {
    let mut trips = TripSwitch::new(WINDOW);
    let one = target("p", "one", "post");
    for at in [0, 1] {
        assert_eq!(trips.note(&one, true, Timestamp(at)), None);
    }
    assert_eq!(trips.note(&one, true, Timestamp(2)), Some(account("one")));
    // Its errors do not count against the others.
    assert_eq!(
        trips.note(&target("p", "two", "post"), true, Timestamp(3)),
        None
    );

    // Many accounts, one action.
    let mut trips = TripSwitch::new(WINDOW);
    let note = |trips: &mut TripSwitch, name: &str, action: &str, at| {
        trips.note(&target("p", name, action), true, Timestamp(at))
    };
    assert_eq!(note(&mut trips, "one", "post", 0), None);
    assert_eq!(note(&mut trips, "two", "post", 1), None);
    let action = KillScope::Action("post".to_owned());
    assert_eq!(note(&mut trips, "three", "post", 2), Some(action));

    // Many accounts and actions, one platform.
    let mut trips = TripSwitch::new(WINDOW);
    assert_eq!(note(&mut trips, "one", "post", 0), None);
    assert_eq!(note(&mut trips, "two", "reply", 1), None);
    let platform = KillScope::Platform("p".to_owned());
    assert_eq!(note(&mut trips, "three", "like", 2), Some(platform));
}

#[test]
fn e16_a_lifted_switch_begins_anew() {
    let mut trips = TripSwitch::new(WINDOW);
    let target = target("p", "a", "post");
    for round in 0..3 {
        for at in [0, 1] {
            assert_eq!(trips.note(&target, true, Timestamp(round * 10 + at)), None);
        }
        let tripped = trips.note(&target, true, Timestamp(round * 10 + 2));
        assert_eq!(tripped, Some(account("a")));
    }
}

#[test]
fn memory_is_bounded_and_the_loudest_stay() {
    let mut trips = TripSwitch::new(TripWindow {
        of: 1_000,
        ..WINDOW
    });
    let loud = target("p", "loud", "post");
    trips.note(&loud, true, Timestamp(0));
    trips.note(&loud, true, Timestamp(1));
    for n in 0..2_000_u64 {
        let other = target(&format!("p{n}"), &format!("a{n}"), &format!("x{n}"));
        assert_eq!(trips.note(&other, true, Timestamp(1)), None);
        if n.is_multiple_of(10) {
            trips.note(&loud, false, Timestamp(2));
        }
    }
    assert_eq!(trips.note(&loud, true, Timestamp(2)), Some(account("loud")));
    let bytes = format!("{trips:?}").len();
    assert!(bytes < fathom_gateway::SCOPES_MAX * 200, "{bytes}");
}
