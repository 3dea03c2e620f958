//! What every backend of the journal must do. Each case takes a backend that holds nothing yet.

use std::sync::Arc;

use fathom_core::effect::{EffectRequest, KillScope};
use fathom_core::episode::result::EpisodeStatus;
use fathom_core::id::{AskId, Digest, Epoch, RunId, Seq};
use fathom_core::journal::event::{EventKind, ReleaseReason, Signal};
use fathom_core::unit::Timestamp;
use fathom_store::{
    ChainCheck, ClaimOutcome, ClaimOwner, Journal, JournalCursor, KeyClaim, KeyOverride, KillOrder,
    LiftOutcome, OverrideOutcome, RunFilter, RunInfo, RunQuery, RunState, SignalId, StoreError,
    StoredRecord,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::sample::{Author, effect, episode, new_run, run, store};

/// A place for one journal, which can be opened more than once, as by several processes.
pub(crate) trait Backend {
    fn open(&self) -> Arc<dyn Journal>;
}

fn records(journal: &dyn Journal, number: u8) -> Vec<StoredRecord> {
    let records: Result<Vec<_>, _> = journal.records(run(number)).collect();
    records.unwrap()
}

fn info(journal: &dyn Journal, number: u8) -> RunInfo {
    journal.run_info(run(number)).unwrap().unwrap()
}

#[track_caller]
fn check_fenced(error: &StoreError, held: u64, current: u64) {
    let epochs = match error {
        StoreError::Fenced { held, current, .. } => Some((held.0, current.0)),
        _ => None,
    };
    assert_eq!(epochs, Some((held, current)), "{error}");
}

pub(crate) fn records_come_back_in_order(backend: &dyn Backend) {
    let journal = backend.open();
    let (mut author, log) = Author::start(&*journal, 1);
    let entries = vec![
        author.starts("0", "a goal"),
        author.starts("0.0", "a part of it"),
        author.says("0", "one"),
        author.finishes("0.0", "done"),
        author.hears_of("0", "0.0"),
    ];
    let wanted: Vec<_> = entries
        .iter()
        .map(|entry| {
            (
                entry.episode.clone(),
                entry.seq,
                entry.bytes.clone(),
                entry.hash,
            )
        })
        .collect();
    store(&log, entries);
    let found: Vec<_> = records(&*journal, 1)
        .into_iter()
        .map(|stored| (stored.episode, stored.seq, stored.bytes, stored.hash))
        .collect();
    assert_eq!(found, wanted);
    assert!(records(&*journal, 2).is_empty());
}

pub(crate) fn pages_join_without_gap_or_overlap(backend: &dyn Backend) {
    let journal = backend.open();
    let (mut author, log) = Author::start(&*journal, 1);
    let (mut other, other_log) = Author::start(&*journal, 2);
    for number in 0..10 {
        store(&log, vec![author.says("0", &number.to_string())]);
        store(&other_log, vec![other.says("0", &number.to_string())]);
    }
    let mut seen = Vec::new();
    let mut after = JournalCursor::default();
    loop {
        let page = journal.page(run(1), after, 3).unwrap();
        assert!(page.len() <= 3);
        let Some(last) = page.last() else { break };
        after = last.cursor;
        seen.extend(page.into_iter().map(|stored| stored.seq.0));
    }
    assert_eq!(seen, (0..10).collect::<Vec<_>>());
}

pub(crate) fn positions_grow_and_become_durable_in_order(backend: &dyn Backend) {
    let journal = backend.open();
    let (mut author, log) = Author::start(&*journal, 1);
    let positions: Vec<_> = (0..20)
        .map(|number| log.append(author.says("0", &number.to_string())).unwrap())
        .collect();
    assert!(positions.is_sorted_by(|earlier, later| earlier < later));
    let last = *positions.last().unwrap();
    log.wait_durable(last).unwrap();
    for position in positions {
        log.wait_durable(position).unwrap();
    }
    assert_eq!(log.durability().borrow().upto(), last);
    assert_eq!(records(&*journal, 1).len(), 20);
}

pub(crate) fn a_stale_owner_is_fenced_and_others_go_on(backend: &dyn Backend) {
    let (first, second) = (backend.open(), backend.open());
    let (mut author, log) = Author::start(&*first, 1);
    let (mut bystander, bystander_log) = Author::start(&*first, 2);
    store(&log, vec![author.says("0", "mine")]);
    let durable = log.durability().borrow().upto();

    assert_eq!(second.acquire(run(1)).unwrap(), Epoch(2));
    let late = log.append(author.says("0", "late")).unwrap();
    let later = log.append(author.says("0", "later still"));
    let beside = bystander_log.append(bystander.says("0", "beside")).unwrap();

    check_fenced(&log.wait_durable(late).unwrap_err(), 1, 2);
    if let Ok(later) = later {
        check_fenced(&log.wait_durable(later).unwrap_err(), 1, 2);
    }
    check_fenced(&log.append(author.says("0", "again")).unwrap_err(), 1, 2);
    assert_eq!(log.durability().borrow().upto(), durable);
    bystander_log.wait_durable(beside).unwrap();
    store(&bystander_log, vec![bystander.says("0", "and on")]);
    assert_eq!(records(&*first, 1).len(), 1);
    assert_eq!(records(&*second, 2).len(), 2);
}

pub(crate) fn the_new_owner_goes_on_where_the_old_one_stopped(backend: &dyn Backend) {
    let (first, second) = (backend.open(), backend.open());
    let (mut author, log) = Author::start(&*first, 1);
    store(&log, vec![author.says("0", "one")]);
    author.epoch = second.acquire(run(1)).unwrap();
    let log = second.open_log(run(1), author.epoch).unwrap();
    store(&log, vec![author.says("0", "two")]);

    let mut check = ChainCheck::new(run(1), episode("0"));
    for stored in records(&*first, 1) {
        check.step(&stored.bytes, &stored.hash).unwrap();
    }
    assert_eq!(check.epoch(), Epoch(2));
    assert_eq!(info(&*first, 1).epoch, Epoch(2));
}

pub(crate) fn a_log_is_for_its_epoch_only(backend: &dyn Backend) {
    let journal = backend.open();
    let (_, log) = Author::start(&*journal, 1);
    check_fenced(&journal.open_log(run(1), Epoch(7)).unwrap_err(), 7, 1);
    let mut stranger = Author::new(1, Epoch(7));
    check_fenced(&log.append(stranger.says("0", "x")).unwrap_err(), 7, 1);
}

pub(crate) fn a_place_is_taken_once(backend: &dyn Backend) {
    let journal = backend.open();
    let (mut author, log) = Author::start(&*journal, 1);
    let (mut bystander, bystander_log) = Author::start(&*journal, 2);
    let before = log.append(author.says("0", "first")).unwrap();
    let mut double = Author::new(1, Epoch(1)).says("0", "second");
    double.seq = Seq(0);
    let twice = log.append(double).unwrap();
    let beside = bystander_log.append(bystander.says("0", "beside")).unwrap();

    let error = log.wait_durable(twice).unwrap_err();
    assert!(matches!(error, StoreError::OutOfOrder { .. }), "{error}");
    assert!(log.append(author.says("0", "third")).is_err());
    log.wait_durable(before).unwrap();
    bystander_log.wait_durable(beside).unwrap();
    assert_eq!(records(&*journal, 1).len(), 1);
    assert_eq!(info(&*journal, 1).events, 1);
}

pub(crate) fn unknown_and_double_runs_are_errors(backend: &dyn Backend) {
    let journal = backend.open();
    let unknown = [
        journal.acquire(run(1)).unwrap_err(),
        journal.open_log(run(1), Epoch(1)).unwrap_err(),
        journal.post_signal(run(1), &Signal::Cancel).unwrap_err(),
    ];
    for error in unknown {
        assert!(matches!(error, StoreError::UnknownRun { .. }), "{error}");
    }
    assert_eq!(journal.run_info(run(1)).unwrap(), None);
    journal.create_run(&new_run(1)).unwrap();
    let error = journal.create_run(&new_run(1)).unwrap_err();
    assert!(matches!(error, StoreError::RunExists { .. }), "{error}");
    assert_eq!(info(&*journal, 1).epoch, Epoch(1));
}

pub(crate) fn the_list_follows_the_root(backend: &dyn Backend) {
    let journal = backend.open();
    let (mut author, log) = Author::start(&*journal, 1);
    let state = || info(&*journal, 1).state;
    assert_eq!(state(), RunState::Running);
    store(
        &log,
        vec![author.starts("0", "goal"), author.starts("0.0", "part")],
    );
    store(&log, vec![author.finishes("0.0", "done")]);
    assert_eq!(state(), RunState::Running);

    let why = ReleaseReason::AwaitingApproval;
    let leave = author.entry("0", EventKind::Released { why }, Vec::new());
    store(&log, vec![leave]);
    assert_eq!(state(), RunState::Released(why));
    store(
        &log,
        vec![author.says("0.1", "a child does not wake the run")],
    );
    assert_eq!(state(), RunState::Released(why));
    let back = author.entry("0", EventKind::Resumed, Vec::new());
    store(&log, vec![back]);
    assert_eq!(state(), RunState::Running);

    let last = author.finishes("0", "done");
    let updated_at = last.at;
    store(&log, vec![last]);
    let wanted = RunInfo {
        run: run(1),
        epoch: Epoch(1),
        state: RunState::Finished(EpisodeStatus::Ok),
        program: "direct".to_owned(),
        model: "script/answers.jsonl".to_owned(),
        created_at: Timestamp(1_001),
        updated_at,
        events: 7,
        episodes: 3,
        model_calls: 2,
        started_by: Some("os:ada".to_owned()),
    };
    assert_eq!(info(&*journal, 1), wanted);
}

pub(crate) fn runs_are_listed_newest_first(backend: &dyn Backend) {
    let journal = backend.open();
    for number in [3, 1, 2] {
        let (mut author, log) = Author::start(&*journal, number);
        if number == 2 {
            store(&log, vec![author.finishes("0", "done")]);
        }
    }
    let listed = |limit, filter| -> Vec<RunId> {
        let runs = journal.list_runs(&RunQuery { limit, filter }).unwrap();
        runs.into_iter().map(|info| info.run).collect()
    };
    let starting = |start: &str| RunFilter::IdStartsWith(start.to_owned());
    assert_eq!(listed(9, RunFilter::All), [run(3), run(2), run(1)]);
    assert_eq!(listed(2, RunFilter::All), [run(3), run(2)]);
    assert_eq!(listed(9, RunFilter::Unfinished), [run(3), run(1)]);
    assert_eq!(listed(9, RunFilter::Finished), [run(2)]);
    assert_eq!(listed(9, starting("0200")), [run(2)]);
    assert_eq!(listed(9, starting("02000000-0")), [run(2)]);
    assert_eq!(listed(9, starting("0")), [run(3), run(2), run(1)]);
    assert_eq!(listed(9, starting("%")), []);
    assert_eq!(journal.run_ids().unwrap(), [run(1), run(2), run(3)]);
}

pub(crate) fn texts_are_stored_once_with_their_run(backend: &dyn Backend) {
    let journal = backend.open();
    let (mut author, log) = Author::start(&*journal, 1);
    let first = author.says("0", "the same words");
    let blob = first.blobs[0].clone();
    store(&log, vec![first, author.says("0", "the same words")]);
    assert_eq!(journal.blob_count().unwrap(), 1);
    let found = journal.blob(run(1), &blob.address).unwrap();
    assert_eq!(found, Some(blob.bytes));
    assert_eq!(journal.blob(run(2), &blob.address).unwrap(), None);
    assert_eq!(journal.blob(run(1), &Digest([0; 32])).unwrap(), None);
}

pub(crate) fn a_signal_waits_until_a_record_settles_it(backend: &dyn Backend) {
    let (owner, other) = (backend.open(), backend.open());
    let (mut author, log) = Author::start(&*owner, 1);
    owner.create_run(&new_run(2)).unwrap();
    let signals = |after| owner.signals(run(1), after).unwrap();
    let decide = Signal::Decide {
        episode: episode("0.1"),
        ask: AskId(3),
        allow: true,
        by: "ada".to_owned(),
        binding: Digest([7; 32]),
    };
    assert_eq!(signals(SignalId(0)), []);
    let first = other.post_signal(run(1), &decide).unwrap();
    let second = other.post_signal(run(1), &Signal::Cancel).unwrap();
    other.post_signal(run(2), &Signal::Cancel).unwrap();

    let posted = signals(SignalId(0));
    assert_eq!(posted.len(), 2);
    assert_eq!((posted[0].id, &posted[0].signal), (first, &decide));
    assert_eq!(signals(first), posted[1..]);
    // Read and not written down: a new owner would see them all again.
    assert_eq!(other.signals(run(1), SignalId(0)).unwrap(), posted);

    let entry = author.entry("0", EventKind::Signal(decide), Vec::new());
    store(&log, vec![entry.settling(first)]);
    assert_eq!(signals(SignalId(0)), posted[1..]);
    owner.drop_signals(run(1), second).unwrap();
    assert_eq!(signals(SignalId(0)), []);
    assert_eq!(owner.signals(run(2), SignalId(0)).unwrap().len(), 1);
    let third = other.post_signal(run(1), &Signal::Cancel).unwrap();
    assert!(third > second, "a number came twice");
}

pub(crate) fn a_kill_holds_until_its_scope_is_lifted(backend: &dyn Backend) {
    let journal = backend.open();
    let order = |scope, by: &str, at| KillOrder {
        scope,
        by: by.to_owned(),
        at: Timestamp(at),
        why: format!("{by} has a reason"),
    };
    let tenant = KillScope::Tenant("acme".to_owned());
    let global = order(KillScope::Global, "ada", 1);
    let acme = order(tenant.clone(), "bob", 2);
    journal.set_kill(&global).unwrap();
    journal.set_kill(&acme).unwrap();
    journal.set_kill(&order(tenant.clone(), "eve", 3)).unwrap();
    drop(journal);

    let journal = backend.open();
    assert_eq!(journal.kills().unwrap(), [global.clone(), acme]);
    let lift = |scope| journal.lift_kill(&order(scope, "ada", 4)).unwrap();
    assert_eq!(lift(tenant.clone()), LiftOutcome::Now);
    assert_eq!(lift(tenant.clone()), LiftOutcome::WasNotThrown);
    assert_eq!(
        lift(KillScope::Action("send".to_owned())),
        LiftOutcome::WasNotThrown
    );
    assert_eq!(journal.kills().unwrap(), [global]);
    let again = order(tenant, "eve", 5);
    journal.set_kill(&again).unwrap();
    assert_eq!(backend.open().kills().unwrap()[1], again);
    let record = journal.kill_record().unwrap();
    let lifted = record[1].lifted.as_ref().unwrap();
    assert_eq!((lifted.by.as_str(), lifted.at), ("ada", Timestamp(4)));
    assert_eq!(lifted.why, "ada has a reason");
    assert_eq!(record[2].thrown, again);
    assert_eq!(record.len(), 3);
}

pub(crate) fn a_key_is_claimed_once(backend: &dyn Backend) {
    let journal = backend.open();
    let claim = |number, ask, payload| KeyClaim {
        key: effect("{}").key(),
        payload: Digest([payload; 32]),
        owner: ClaimOwner {
            run: run(number),
            episode: episode("0"),
            ask: AskId(ask),
        },
        at: Timestamp(9),
    };
    let held_by = |claim: KeyClaim| ClaimOutcome::HeldBy {
        owner: claim.owner,
        payload: claim.payload,
        at: claim.at,
    };
    let first = claim(1, 1, 1);
    assert_eq!(journal.claim_of(&first.key).unwrap(), None);
    assert_eq!(journal.claim(&first).unwrap(), ClaimOutcome::Claimed);
    drop(journal);

    let journal = backend.open();
    assert_eq!(journal.claim(&first).unwrap(), ClaimOutcome::Claimed);
    assert_eq!(journal.claim_of(&first.key).unwrap(), Some(first.clone()));
    for other in [claim(2, 1, 1), claim(1, 2, 1), claim(1, 1, 2)] {
        assert_eq!(journal.claim(&other).unwrap(), held_by(first.clone()));
    }
    let elsewhere = KeyClaim {
        key: KeyOverride::example("order-18").key,
        ..claim(2, 1, 1)
    };
    assert_eq!(journal.claim(&elsewhere).unwrap(), ClaimOutcome::Claimed);
}

pub(crate) fn a_key_that_was_given_back_is_free(backend: &dyn Backend) {
    let journal = backend.open();
    let journal = &*journal;
    let claim = |number| KeyClaim {
        key: effect("{}").key(),
        payload: Digest([1; 32]),
        owner: ClaimOwner {
            run: run(number),
            episode: episode("0"),
            ask: AskId(1),
        },
        at: Timestamp(9),
    };
    let is_claimed = |number| journal.claim(&claim(number)).unwrap() == ClaimOutcome::Claimed;
    let give_back = |number| {
        let claim = claim(number);
        journal.release(&claim.key, &claim.owner).unwrap();
    };
    assert!(is_claimed(1));
    give_back(2);
    assert!(!is_claimed(2), "only its holder gives it back");
    give_back(1);
    assert_eq!(journal.claim_of(&claim(1).key).unwrap(), None);
    assert!(is_claimed(2));
    give_back(1);
    assert!(!is_claimed(3), "the first one holds nothing any more");
    give_back(2);
    let would = journal.would_claim(&claim(2)).unwrap();
    assert_eq!(would, ClaimOutcome::Claimed);
    assert_eq!(
        journal.claim_of(&claim(2).key).unwrap(),
        None,
        "only a look"
    );
    assert!(is_claimed(2), "it may want the same again");
    assert!(!is_claimed(3));
    assert_ne!(
        journal.would_claim(&claim(3)).unwrap(),
        ClaimOutcome::Claimed
    );

    // Who was let past and sent nothing leaves the key to the one it passed.
    let order = KeyOverride {
        key: claim(2).key,
        ..KeyOverride::example("order-17")
    };
    assert_eq!(
        journal.override_claim(&order).unwrap(),
        OverrideOutcome::Recorded
    );
    assert!(is_claimed(3));
    give_back(3);
    assert_eq!(journal.claim_of(&order.key).unwrap(), Some(claim(2)));
    assert!(!is_claimed(3), "that takes another word");
}

pub(crate) fn an_override_lets_one_claim_pass(backend: &dyn Backend) {
    let journal = backend.open();
    let order = KeyOverride::example("order-17");
    let claim = |number| KeyClaim {
        key: order.key.clone(),
        payload: Digest([1; 32]),
        owner: ClaimOwner {
            run: run(number),
            episode: episode("0"),
            ask: AskId(1),
        },
        at: Timestamp(9),
    };
    let is_claimed = |number| journal.claim(&claim(number)).unwrap() == ClaimOutcome::Claimed;
    let overridden = || journal.override_claim(&order).unwrap();
    assert_eq!(overridden(), OverrideOutcome::NothingHeld);
    assert!(is_claimed(1));
    assert!(!is_claimed(2));
    assert_eq!(overridden(), OverrideOutcome::Recorded);
    assert_eq!(overridden(), OverrideOutcome::Recorded);
    assert!(is_claimed(1), "the holder needs no override");
    assert!(is_claimed(2));
    assert!(!is_claimed(3), "one override, one claim");
    assert!(!is_claimed(1));
    assert_eq!(journal.claim_of(&order.key).unwrap(), Some(claim(2)));
    assert_eq!(overridden(), OverrideOutcome::Recorded);
    let kept = journal.overrides_of(&order.key).unwrap();
    assert_eq!(
        kept,
        [order.clone(), order.clone()],
        "one was used, one was not"
    );
}

trait Example {
    fn example(event: &str) -> Self;
}

impl Example for KeyOverride {
    fn example(event: &str) -> Self {
        let request = EffectRequest {
            event: event.to_owned(),
            ..effect("{}")
        };
        Self {
            key: request.key(),
            by: "ada".to_owned(),
            at: Timestamp(1),
            why: "the first one was lost".to_owned(),
        }
    }
}

pub(crate) fn all_is_there_after_reopening(backend: &dyn Backend) {
    let journal = backend.open();
    let (mut author, log) = Author::start(&*journal, 1);
    store(
        &log,
        vec![author.starts("0", "goal"), author.says("0", "one")],
    );
    let before = (records(&*journal, 1), info(&*journal, 1));
    let blobs = journal.blob_count().unwrap();
    drop(log);
    drop(journal);

    let journal = backend.open();
    assert_eq!((records(&*journal, 1), info(&*journal, 1)), before);
    assert_eq!(journal.blob_count().unwrap(), blobs);
    author.epoch = journal.acquire(run(1)).unwrap();
    let log = journal.open_log(run(1), author.epoch).unwrap();
    store(&log, vec![author.says("0", "two")]);
    assert_eq!(records(&*journal, 1).len(), 3);
}

/// Whatever several episodes of several runs write, each chain reads back whole.
pub(crate) fn any_interleaving_reads_back_chained<B: Backend>(make: impl Fn() -> B, cases: u32) {
    let steps = prop::collection::vec((1..4_u8, 0..3_usize, "[a-z]{0,40}"), 1..60);
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let outcome = TestRunner::new(config).run(&steps, |steps| {
        let backend = make();
        let journal = backend.open();
        let mut authors: Vec<_> = (1..4).map(|n| Author::start(&*journal, n)).collect();
        let mut last = vec![None; authors.len()];
        for (number, episode, words) in &steps {
            let at = usize::from(*number) - 1;
            let (author, log) = &mut authors[at];
            let entry = author.says(["0", "0.0", "0.1"][*episode], words);
            last[at] = Some(log.append(entry).unwrap());
        }
        for ((author, log), last) in authors.iter_mut().zip(last) {
            let Some(last) = last else { continue };
            log.wait_durable(last).unwrap();
            check_reads_back(&*journal, author, &steps)?;
        }
        Ok(())
    });
    outcome.unwrap();
}

fn check_reads_back(
    journal: &dyn Journal,
    author: &mut Author,
    steps: &[(u8, usize, String)],
) -> Result<(), TestCaseError> {
    let number = author.run.as_bytes()[0];
    let stored = records(journal, number);
    let written: Vec<_> = steps.iter().filter(|step| step.0 == number).collect();
    prop_assert_eq!(stored.len(), written.len());
    for name in ["0", "0.0", "0.1"] {
        let mut check = ChainCheck::new(author.run, episode(name));
        for record in stored
            .iter()
            .filter(|record| record.episode == episode(name))
        {
            let mut record = check.step(&record.bytes, &record.hash).unwrap();
            let fetch = |address: &Digest| journal.blob(author.run, address);
            author.sealer.open(&mut record, fetch).unwrap();
        }
        prop_assert_eq!(check.chain(), &*author.chain(name));
    }
    Ok(())
}
