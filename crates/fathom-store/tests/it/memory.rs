use std::sync::Arc;

use fathom_core::budget::amounts::Amounts;
use fathom_core::journal::command::Command;
use fathom_core::journal::event::EventKind;
use fathom_store::{CommitDurability, Journal, MemoryJournal, StoreError};

use crate::conformance::{self, Backend};
use crate::sample::{Author, run};

impl Backend for MemoryJournal {
    fn open(&self) -> Arc<dyn Journal> {
        Arc::new(self.clone())
    }
}

fn check(case: fn(&dyn Backend)) {
    case(&MemoryJournal::new());
}

#[test]
fn x02_records_come_back_in_order() {
    check(conformance::records_come_back_in_order);
}

#[test]
fn pages_join_without_gap_or_overlap() {
    check(conformance::pages_join_without_gap_or_overlap);
}

#[test]
fn x03_positions_grow_and_become_durable_in_order() {
    check(conformance::positions_grow_and_become_durable_in_order);
}

#[test]
fn x04_a_stale_owner_is_fenced_and_others_go_on() {
    check(conformance::a_stale_owner_is_fenced_and_others_go_on);
}

#[test]
fn x04_the_new_owner_goes_on_where_the_old_one_stopped() {
    check(conformance::the_new_owner_goes_on_where_the_old_one_stopped);
}

#[test]
fn x04_a_log_is_for_its_epoch_only() {
    check(conformance::a_log_is_for_its_epoch_only);
}

#[test]
fn x02_a_place_is_taken_once() {
    check(conformance::a_place_is_taken_once);
}

#[test]
fn x08_unknown_and_double_runs_are_errors() {
    check(conformance::unknown_and_double_runs_are_errors);
}

#[test]
fn the_list_follows_the_root() {
    check(conformance::the_list_follows_the_root);
}

#[test]
fn runs_are_listed_newest_first() {
    check(conformance::runs_are_listed_newest_first);
}

#[test]
fn texts_are_stored_once_with_their_run() {
    check(conformance::texts_are_stored_once_with_their_run);
}

#[test]
fn x04_a_signal_waits_until_a_record_settles_it() {
    check(conformance::a_signal_waits_until_a_record_settles_it);
}

#[test]
fn e16_a_kill_holds_until_its_scope_is_lifted() {
    check(conformance::a_kill_holds_until_its_scope_is_lifted);
}

#[test]
fn e14_a_key_is_claimed_once() {
    check(conformance::a_key_is_claimed_once);
}

#[test]
fn e14_a_key_that_was_given_back_is_free() {
    check(conformance::a_key_that_was_given_back_is_free);
}

#[test]
fn e14_an_override_lets_one_claim_pass() {
    check(conformance::an_override_lets_one_claim_pass);
}

#[test]
fn x04_all_is_there_after_reopening() {
    check(conformance::all_is_there_after_reopening);
}

#[test]
fn x02_any_interleaving_reads_back_chained() {
    conformance::any_interleaving_reads_back_chained(MemoryJournal::new, 128);
}

#[test]
fn x03_what_is_held_back_is_neither_durable_nor_to_be_read() {
    let journal = MemoryJournal::new();
    let (mut author, log) = Author::start(&journal, 1);
    journal.hold();
    let first = log.append(author.says("0", "one")).unwrap();
    let second = log.append(author.says("0", "two")).unwrap();
    assert!(second > first);
    assert!(log.durability().borrow().upto() < first);
    let open: &dyn Journal = &journal;
    assert_eq!(open.records(run(1)).count(), 0);

    journal.release();
    log.wait_durable(second).unwrap();
    assert_eq!(open.records(run(1)).count(), 2);
    let third = log.append(author.says("0", "three")).unwrap();
    assert_eq!(log.durability().borrow().upto(), third);
}

/// A call may go out only when the record with its lease is durable, and that can be awaited.
#[test]
fn e06_a_lease_is_acknowledged_only_once_it_is_stored() {
    let journal = MemoryJournal::new();
    let (mut author, log) = Author::start(&journal, 1);
    journal.hold();
    let lease = Command::Lease { upto: Amounts::MAX };
    let lease = author.entry("0", EventKind::Tick, vec![lease]);
    let position = log.append(lease).unwrap();
    let waiter = log.clone();
    let waiter = std::thread::spawn(move || {
        waiter.wait_durable(position).unwrap();
        waiter.durability().borrow().upto()
    });
    assert!(log.durability().borrow().upto() < position);
    journal.release();
    assert_eq!(waiter.join().unwrap(), position);
}

#[test]
fn x04_an_entry_held_back_is_fenced_when_it_gets_to_the_disk() {
    let journal = MemoryJournal::new();
    let (mut author, log) = Author::start(&journal, 1);
    journal.hold();
    let position = log.append(author.says("0", "one")).unwrap();
    journal.acquire(run(1)).unwrap();
    journal.release();
    let error = log.wait_durable(position).unwrap_err();
    assert!(matches!(error, StoreError::Fenced { .. }), "{error}");
}

#[test]
fn x03_nobody_waits_for_a_journal_that_is_gone() {
    let journal = MemoryJournal::new();
    let (mut author, log) = Author::start(&journal, 1);
    journal.hold();
    let position = log.append(author.says("0", "one")).unwrap();
    // Forgets what is held back, as a crash would.
    journal.forget();
    let error = log.wait_durable(position).unwrap_err();
    assert!(matches!(error, StoreError::Closed), "{error}");
    let failed = matches!(*log.durability().borrow(), CommitDurability::Failed { .. });
    assert!(failed);
}
