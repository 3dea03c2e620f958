use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use fathom_core::effect::KillScope;
use fathom_core::unit::Timestamp;
use fathom_store::{
    ChainCheck, CommitDurability, Journal, KillOrder, SqliteJournal, SqliteOptions, StoreError,
};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::conformance::{self, Backend};
use crate::sample::{Author, episode, new_run, run, store};

pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("journal.db")
    }

    fn journal(&self, options: SqliteOptions) -> Result<SqliteJournal, StoreError> {
        SqliteJournal::open(&self.path(), options)
    }
}

impl Backend for Folder {
    fn open(&self) -> Arc<dyn Journal> {
        Arc::new(self.journal(SqliteOptions::default()).unwrap())
    }
}

/// Behind the journal's back.
#[expect(
    clippy::disallowed_methods,
    reason = "tests play the other program that has the file open, or damages it"
)]
pub(crate) fn raw(path: &Path) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection
        .pragma_update(None, "synchronous", "OFF")
        .unwrap();
    connection
}

fn check(case: fn(&dyn Backend)) {
    case(&Folder::new());
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
    conformance::any_interleaving_reads_back_chained(Folder::new, 24);
}

/// While another program keeps the database to itself, thoughts go on and nothing counts as durable.
#[test]
fn x03_an_append_returns_before_the_disk_has_it() {
    let folder = Folder::new();
    let journal = folder.open();
    let (mut author, log) = Author::start(&*journal, 1);
    let other = raw(&folder.path());
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let positions = [(); 10].map(|()| log.append(author.says("0", "word")).unwrap());
    assert!(log.durability().borrow().upto() < positions[0]);
    assert_eq!(journal.records(run(1)).count(), 0);
    other.execute_batch("COMMIT").unwrap();
    log.wait_durable(positions[9]).unwrap();
    assert_eq!(journal.records(run(1)).count(), 10);
}

/// Entries gather for a moment before they are stored; nobody has to ask for them.
#[test]
fn x03_what_nobody_waits_for_is_stored_too() {
    let folder = Folder::new();
    let journal = folder.open();
    let (mut author, log) = Author::start(&*journal, 1);
    let position = log.append(author.says("0", "word")).unwrap();
    while log.durability().borrow().upto() < position {
        thread::yield_now();
    }
    assert_eq!(journal.records(run(1)).count(), 1);
}

#[test]
fn x03_a_full_queue_waits_and_loses_nothing() {
    const ENTRIES: usize = 7000;
    const QUEUE_AND_BATCH: usize = 4096 + 1024;
    let folder = Folder::new();
    let journal = folder.open();
    let (mut author, log) = Author::start(&*journal, 1);
    let other = raw(&folder.path());
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let appended = AtomicUsize::new(0);
    thread::scope(|scope| {
        let producer = scope.spawn(|| {
            let mut last = None;
            for _ in 0..ENTRIES {
                last = Some(log.append(author.says("0", "word")).unwrap());
                appended.fetch_add(1, Ordering::SeqCst);
            }
            last.unwrap()
        });
        while appended.load(Ordering::SeqCst) < 4096 {
            thread::yield_now();
        }
        assert!(appended.load(Ordering::SeqCst) <= QUEUE_AND_BATCH);
        other.execute_batch("COMMIT").unwrap();
        log.wait_durable(producer.join().unwrap()).unwrap();
    });
    let mut check = ChainCheck::new(run(1), episode("0"));
    for stored in journal.records(run(1)) {
        let stored = stored.unwrap();
        check.step(&stored.bytes, &stored.hash).unwrap();
    }
    assert_eq!(check.chain(), author.chain("0"));
}

#[test]
fn x04_closing_the_journal_stores_what_is_queued() {
    let folder = Folder::new();
    let journal = folder.open();
    let (mut author, log) = Author::start(&*journal, 1);
    let positions = [(); 50].map(|()| log.append(author.says("0", "word")).unwrap());
    drop(journal);
    log.wait_durable(positions[49]).unwrap();
    assert_eq!(folder.open().records(run(1)).count(), 50);
    let error = log.append(author.says("0", "too late")).unwrap_err();
    assert!(matches!(error, StoreError::Closed), "{error}");
}

/// A disk that fills up: what was acknowledged is there, what was not is not acknowledged later either.
#[test]
fn x04_a_full_disk_acknowledges_nothing_that_is_not_stored() {
    let folder = Folder::new();
    let options = SqliteOptions {
        pages_max: Some(60),
        ..SqliteOptions::default()
    };
    let journal = folder.journal(options).unwrap();
    let (mut author, log) = Author::start(&journal, 1);
    let (mut bystander, bystander_log) = Author::start(&journal, 2);
    let words = "many words ".repeat(100);
    let mut acknowledged = 0;
    let error = loop {
        let entry = author.says("0", &format!("{acknowledged} {words}"));
        let stored = log
            .append(entry)
            .and_then(|position| log.wait_durable(position));
        match stored {
            Ok(()) => acknowledged += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, StoreError::DiskFull), "{error}");
    assert_eq!(error.code(), "F0203");
    assert!(acknowledged > 10);
    let failed = matches!(&*log.durability().borrow(), CommitDurability::Failed { .. });
    assert!(failed);
    let later = bystander_log.append(bystander.says("0", "small"));
    let later = later.and_then(|position| bystander_log.wait_durable(position));
    assert!(matches!(later, Err(StoreError::DiskFull)), "{later:?}");
    // The kill switch needs little room and is no record: it still works.
    let order = KillOrder {
        scope: KillScope::Global,
        by: "ada".to_owned(),
        at: Timestamp(1),
        why: String::new(),
    };
    journal.set_kill(&order).unwrap();
    drop(journal);

    let journal = folder.open();
    let mut check = ChainCheck::new(run(1), episode("0"));
    for stored in journal.records(run(1)) {
        let stored = stored.unwrap();
        check.step(&stored.bytes, &stored.hash).unwrap();
    }
    assert_eq!(check.chain().next_seq().0, acknowledged);
    assert_eq!(
        journal.run_info(run(1)).unwrap().unwrap().events,
        acknowledged
    );
    assert_eq!(journal.records(run(2)).count(), 0);
    assert_eq!(journal.kills().unwrap(), [order]);
}

#[test]
fn x08_a_newer_format_is_refused_and_left_alone() {
    let folder = Folder::new();
    drop(folder.open());
    let change = "UPDATE meta SET value = '7' WHERE key = 'format';
                  UPDATE meta SET value = '9.1.0' WHERE key = 'written_by';";
    raw(&folder.path()).execute_batch(change).unwrap();
    let before = fs::read(folder.path()).unwrap();
    let error = folder.journal(SqliteOptions::default()).err().unwrap();
    let StoreError::NewerFormat {
        found,
        known,
        written_by,
    } = &error
    else {
        panic!("{error}");
    };
    assert_eq!((*found, *known, written_by.as_str()), (7, 3, "9.1.0"));
    assert!(error.hint().contains("9.1.0"));
    assert_eq!(fs::read(folder.path()).unwrap(), before);
}

#[test]
fn x08_a_file_that_is_no_journal_is_refused_and_left_alone() {
    let folder = Folder::new();
    let nonsense = b"this is a shopping list, and not a short one: ".repeat(100);
    fs::write(folder.path(), &nonsense).unwrap();
    let error = folder.journal(SqliteOptions::default()).err().unwrap();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    assert_eq!(fs::read(folder.path()).unwrap(), nonsense);

    let folder = Folder::new();
    raw(&folder.path())
        .execute_batch("CREATE TABLE recipes (name TEXT)")
        .unwrap();
    let error = folder.journal(SqliteOptions::default()).err().unwrap();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
}

#[test]
fn x08_a_folder_that_cannot_be_used_is_an_error_that_names_it() {
    let folder = Folder::new();
    let path = folder.0.path().join("missing/journal.db");
    let error = SqliteJournal::open(&path, SqliteOptions::default())
        .err()
        .unwrap();
    assert_eq!(error.code(), "F0201");
    assert!(error.to_string().contains("missing"), "{error}");
}

#[test]
fn the_files_of_the_journal_belong_to_their_owner_alone() {
    let folder = Folder::new();
    let journal = folder.open();
    let (mut author, log) = Author::start(&*journal, 1);
    store(&log, vec![author.says("0", "word")]);
    let files: Vec<_> = fs::read_dir(folder.0.path())
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert!(files.len() >= 3, "{files:?}");
    for file in files {
        let mode = file.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{file:?}");
    }
}

/// The writer of one process and the writer of another take turns.
#[test]
fn x04_two_processes_share_one_file() {
    let folder = Folder::new();
    let journals = [folder.open(), folder.open()];
    thread::scope(|scope| {
        for (journal, number) in journals.iter().zip(1..) {
            scope.spawn(move || {
                let (mut author, log) = Author::start(&**journal, number);
                for word in 0..100 {
                    store(&log, vec![author.says("0", &word.to_string())]);
                }
            });
        }
    });
    let journal = folder.open();
    for number in [1, 2] {
        assert_eq!(journal.records(run(number)).count(), 100);
    }
}

#[test]
fn many_can_open_a_new_journal_at_once() {
    let folder = Folder::new();
    thread::scope(|scope| {
        for number in 0..8 {
            let folder = &folder;
            scope.spawn(move || folder.open().create_run(&new_run(number)).unwrap());
        }
    });
    assert_eq!(folder.open().run_ids().unwrap().len(), 8);
}
