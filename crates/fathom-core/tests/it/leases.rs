//! Calls and money are set aside durably before they are used, so that a crash can forget replies but never
//! spending.

use fathom_core::budget::amounts::Amounts;
use fathom_core::budget::ledger::BudgetAccounts;
use fathom_core::episode::program::Ask;
use fathom_core::id::{AskId, EpisodeId};
use fathom_core::journal::command::Command;
use fathom_core::journal::event::{EventKind, ReleaseReason};
use fathom_core::run::step::LogPosition;
use fathom_core::unit::{Millis, Nanodollars};

use fathom_testkit::manual_host::host::{Disk, ManualHost, at};
use fathom_testkit::manual_host::samples::{AMPLE, call, root, spawn_request};
use fathom_testkit::manual_host::scripted_program::Scripts;

fn leases(desk: &ManualHost, episode: &EpisodeId) -> Vec<Amounts> {
    let commands = desk.log.commands(episode);
    commands
        .iter()
        .filter_map(|command| match command {
            Command::Lease { upto } => Some(*upto),
            _ => None,
        })
        .collect()
}

fn forfeits(desk: &ManualHost, episode: &EpisodeId) -> Vec<Amounts> {
    let events = desk.log.events(episode);
    events
        .iter()
        .filter_map(|event| match event {
            EventKind::Forfeited { amounts } => Some(*amounts),
            _ => None,
        })
        .collect()
}

fn slow(scripts: Scripts, amounts: Amounts) -> ManualHost {
    let mut desk = ManualHost::new(scripts);
    desk.disk = Disk::Slow;
    desk.start(root(amounts));
    desk
}

#[test]
fn e06_no_call_goes_out_before_its_lease_is_durable() {
    let mut desk = slow(Scripts::root(vec![vec![call(5, 5)]]), AMPLE);
    assert_eq!(desk.calls_out(), 0);
    assert!(desk.run.awaits_log());
    let lease = desk
        .log
        .entries
        .iter()
        .position(|entry| {
            let commands = entry.record.commands.iter();
            commands
                .clone()
                .any(|command| matches!(command, Command::Lease { .. }))
        })
        .unwrap() as u64;
    desk.flush(LogPosition(lease));
    assert_eq!(desk.calls_out(), 0, "durable up to just before the lease");
    desk.flush(LogPosition(lease + 1));
    assert_eq!(desk.calls_out(), 1);
}

#[test]
fn x03_calls_under_a_durable_lease_run_ahead_of_the_disk() {
    let scripts = Scripts::root(vec![vec![call(5, 5)]; 20]);
    let mut desk = slow(scripts, AMPLE);
    desk.flush_all();
    let mut ahead = 0;
    while desk.calls_out() > 0 {
        desk.reply_next("four");
        ahead += 1;
    }
    // A hundred calls are leased in blocks of six: the first block covers the first call and six more.
    assert_eq!(ahead, 7);
    assert!(desk.run.awaits_log());
    desk.flush_all();
    assert_eq!(desk.calls_out(), 1);
}

#[test]
fn e06_a_lease_only_grows_and_never_beyond_the_limit() {
    let scripts = Scripts::root(vec![vec![call(50, 50)]; 12]);
    let mut desk = ManualHost::open(
        scripts,
        root(Amounts {
            tokens: 2_000,
            ..AMPLE
        }),
    );
    while desk.calls_out() > 0 {
        desk.reply_next(&"y".repeat(50));
    }
    let leases = leases(&desk, &EpisodeId::root());
    assert!(leases.len() > 1);
    for pair in leases.windows(2) {
        assert_eq!(pair[0].exceeds(&pair[1]), None, "a lease shrank");
    }
    // Every call used all it reserved, so what is leased is what can be spent.
    let last = leases.last().unwrap();
    assert!(last.tokens <= 2_000 && last.calls <= 100);
}

#[test]
fn e06_after_a_crash_an_unaccounted_lease_counts_as_spent() {
    let scripts = Scripts::root(vec![vec![call(5, 5)], vec![call(5, 5)], vec![call(5, 5)]]);
    let mut desk = slow(scripts, AMPLE);
    desk.flush_all();
    let durable = desk.log.entries.len();
    // Two replies that the disk never sees, and a third call on the wire.
    desk.reply_next("four");
    desk.reply_next("four");
    assert_eq!(desk.calls_out(), 1);
    desk.crash(durable);
    let root = EpisodeId::root();
    let lost = forfeits(&desk, &root);
    let lease = leases(&desk, &root)[0];
    let first = Amounts {
        tokens: 10,
        calls: 1,
        money: Nanodollars(15),
        ..Amounts::ZERO
    };
    assert_eq!(lost, [lease.minus(first)]);
    let spent = desk.episode(&root).accounts().spent();
    assert_eq!(
        (spent.tokens, spent.calls),
        (lease.tokens, lease.calls),
        "the lease is gone, and with it the call that was on the wire"
    );
    assert!(spent.calls >= 3, "as many as went out");
}

#[test]
fn e06_a_lost_lease_is_lost_once() {
    let scripts = Scripts::root(vec![vec![call(5, 5)]]);
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    let root = EpisodeId::root();
    desk.crash(desk.log.entries.len());
    let lost = forfeits(&desk, &root);
    assert_eq!(lost.len(), 1);
    let before = desk.episode(&root).accounts().spent();
    // The next owner dies as well, before anything of its own was durable but its arrival.
    let arrival = desk
        .log
        .entries
        .iter()
        .rposition(|entry| matches!(entry.record.event.kind, EventKind::Resumed))
        .unwrap();
    desk.crash(arrival + 1);
    let again = desk.episode(&root).accounts().spent();
    assert!(before.exceeds(&again).is_none());
    let forfeited = forfeits(&desk, &root);
    let sum = forfeited
        .iter()
        .fold(Amounts::ZERO, |sum, lost| sum.plus(*lost));
    // The call that was sent and lost each time is paid each time; the lease is not.
    assert!(sum.calls <= lost[0].calls * 2, "{forfeited:?}");
}

#[test]
fn e06_an_owner_who_leaves_in_good_order_forfeits_nothing() {
    let scripts = Scripts::root(vec![vec![call(5, 5)], vec![call(5, 5)]]);
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    desk.reply_next("four");
    desk.hand_over(ReleaseReason::Interrupted, Millis(1_000));
    assert_eq!(forfeits(&desk, &EpisodeId::root()), []);
    // The call that was on the wire may have been billed: it is paid and made again.
    let again = desk.sent();
    assert_eq!((again.ask, again.attempt), (AskId(1), 2));
    desk.reply(&again, "five!");
    assert_eq!(desk.result().budget.spent.tokens, 9 + 10 + 10);
    assert_eq!(desk.result().budget.spent.calls, 3);
}

#[test]
fn e06_an_earlier_owners_lease_holds_once_the_new_owner_is_durable() {
    let scripts = Scripts::root(vec![vec![call(5, 5)], vec![call(5, 5)]]);
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    desk.run
        .release(&mut desk.log, desk.now, ReleaseReason::Interrupted);
    desk.disk = Disk::Slow;
    desk.take_over();
    // Were the call sent now, a crash would leave a journal that knows nothing of a second owner.
    assert_eq!(desk.calls_out(), 0);
    desk.flush_all();
    assert_eq!(desk.calls_out(), 1);
}

/// A root that has spent ten tokens and whose lease reaches 125 further ones, with four children that took
/// all but 62 of the rest, and a call that waits for the first of them.
fn lease_beyond_what_is_left() -> ManualHost {
    let child = |tokens: u64| {
        let mut request = spawn_request("child");
        request.at_least = Amounts {
            tokens,
            ..Amounts::ZERO
        };
        Ask::Spawn(Box::new(request))
    };
    let scripts = Scripts::root(vec![
        vec![call(5, 5)],
        vec![child(495), child(247), child(124), child(62), call(50, 50)],
    ])
    .with("child", vec![vec![call(5, 5)]]);
    let amounts = Amounts {
        tokens: 1_000,
        calls: 8,
        ..AMPLE
    };
    let mut desk = ManualHost::open(scripts, root(amounts));
    desk.reply_next("five!");
    desk
}

#[test]
fn e06_a_lease_does_not_reach_into_what_a_child_gives_back() {
    let mut desk = lease_beyond_what_is_left();
    let root = EpisodeId::root();
    assert_eq!(desk.episode(&root).accounts().left().tokens, 62);
    let [lease] = leases(&desk, &root)[..] else {
        panic!("{:?}", leases(&desk, &root));
    };
    assert_eq!(lease.tokens, 10 + 125);
    // The first child ends and gives back more than 400; none of that is durable.
    desk.disk = Disk::Slow;
    let first = desk.sent();
    assert_eq!(first.episode, at(&[0]));
    let others = desk.calls_out();
    desk.reply(&first, "four");
    assert!(desk.episode(&root).accounts().reserved().tokens == 100);
    // If the call went out on the old lease and the owner died here, the child would come back with all it
    // had, and the call would be forgotten.
    assert_eq!(desk.calls_out(), others, "the call waits for a lease");
    desk.flush_all();
    assert_eq!(desk.calls_out(), others + 1);
}

/// Answers every call that is out with as many tokens as it may have, and adds up what that costs.
fn answer_all(desk: &mut ManualHost) -> u64 {
    let mut bill = 0;
    while desk.calls_out() > 0 {
        let sent = desk.sent();
        let output = sent.request.output_tokens_max;
        bill += sent.input_tokens() + u64::from(output);
        desk.reply(&sent, &"y".repeat(output as usize));
    }
    bill
}

#[test]
fn e06_a_crash_at_any_record_keeps_the_bill_within_the_limit() {
    // Leased in blocks of five calls.
    let limit = Amounts {
        tokens: 1_600,
        calls: 80,
        ..AMPLE
    };
    let scripts = || Scripts::root(vec![vec![call(5, 15)]; 80]);
    let mut durable = 1;
    loop {
        let mut desk = slow(scripts(), limit);
        let mut bill = 0;
        // The disk takes in `durable` records and no more; all that runs ahead of it is lost.
        while desk.log.entries.len() < durable && !desk.is_over() {
            desk.flush_all();
            bill += answer_all(&mut desk);
        }
        desk.flush(LogPosition(durable as u64));
        bill += answer_all(&mut desk);
        if desk.log.entries.len() <= durable {
            assert!(durable > 100, "only {durable} crashes");
            return;
        }
        desk.disk = Disk::Quick;
        desk.crash(durable);
        bill += answer_all(&mut desk);
        let spent = desk.result().budget.spent.tokens;
        assert!(
            bill <= spent && spent <= limit.tokens,
            "after a crash at {durable} the bill is {bill}, the books say {spent}"
        );
        durable += 1;
    }
}
