use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use fathom_core::id::Epoch;
use fathom_core::text::{Text, VisitTexts};
use fathom_store::{
    HomeFolder, Journal, JournalEntry, NewRun, ShredOutcome, StoreError, TextSealer, VerifyScope,
};

use crate::sample::{Author, every_record, new_run, run, store};

const CANARY: &str = "xq-canary-xq";

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for found in fs::read_dir(folder).unwrap() {
        let path = found.unwrap().path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            files.push(path);
        }
    }
    files
}

fn files_with(folder: &Path, words: &str) -> usize {
    let holds = |path: &PathBuf| {
        let bytes = fs::read(path).unwrap();
        bytes
            .windows(words.len())
            .any(|part| part == words.as_bytes())
    };
    files_below(folder)
        .iter()
        .filter(|path| holds(path))
        .count()
}

/// A home with a run that has words in every text there can be.
fn talkative_home(folder: &Path) -> HomeFolder {
    let home = HomeFolder::open(folder).unwrap();
    let key = home.keys().create_run_key(run(1)).unwrap();
    let journal = home.open_journal().unwrap();
    let epoch = journal.create_run(&new_run(1)).unwrap();
    let log = journal.open_log(run(1), epoch).unwrap();
    let mut author = Author::with_key(run(1), epoch, &key);
    let sealer = TextSealer::new(run(1), &key);
    let mut number = 0;
    let mut entries = Vec::new();
    for mut record in every_record() {
        record.each_text(&mut |text| {
            number += 1;
            *text = Text::from(format!("{CANARY} {number}"));
        });
        entries.push(JournalEntry::seal(&mut record, author.chain("0"), &sealer).unwrap());
    }
    store(&log, entries);
    // Both while the journal is open, with its write-ahead log, and after.
    assert_eq!(files_with(folder, CANARY), 0);
    assert!(
        files_with(folder, "script/answers.jsonl") > 0,
        "the search finds nothing at all"
    );
    home
}

#[test]
fn x02_no_text_lies_open_anywhere_in_the_home() {
    let folder = tempfile::tempdir().unwrap();
    let home = talkative_home(folder.path());
    assert_eq!(files_with(folder.path(), CANARY), 0);

    let journal = home.open_journal().unwrap();
    let journal: &dyn Journal = &journal;
    let sealer = home.keys().sealer(run(1)).unwrap().unwrap();
    let mut read = 0;
    for stored in journal.records(run(1)) {
        let mut record = fathom_store::journal::chain::decode(&stored.unwrap().bytes).unwrap();
        sealer
            .open(&mut record, |address| journal.blob(run(1), address))
            .unwrap();
        record.each_text(&mut |text| read += usize::from(text.as_str().contains(CANARY)));
    }
    assert!(read > 50, "only {read} texts came back");
}

#[test]
fn folders_and_files_belong_to_their_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/home");
    let home = talkative_home(&path);
    let _lock = home.lock_run(run(1)).unwrap().unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for part in ["", "keys", "locks"] {
        assert_eq!(mode(&path.join(part)), 0o700, "{part}");
    }
    for file in files_below(&path) {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[test]
fn x02_a_shredded_run_verifies_and_says_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let home = HomeFolder::open(folder.path()).unwrap();
    let journal = home.open_journal().unwrap();
    for number in [1, 2] {
        let key = home.keys().create_run_key(run(number)).unwrap();
        let new = NewRun {
            run: run(number),
            ..new_run(number)
        };
        let epoch = journal.create_run(&new).unwrap();
        let mut author = Author::with_key(run(number), epoch, &key);
        let log = journal.open_log(run(number), epoch).unwrap();
        store(
            &log,
            vec![author.starts("0", "goal"), author.finishes("0", "done")],
        );
    }
    let before = home.verify(&journal, VerifyScope::All).unwrap();
    assert!(before.is_ok() && before.shredded.is_empty(), "{before:?}");

    assert_eq!(home.shred(run(1)).unwrap(), ShredOutcome::Now);
    assert_eq!(home.shred(run(1)).unwrap(), ShredOutcome::Before);
    let after = home.verify(&journal, VerifyScope::All).unwrap();
    assert!(after.is_ok(), "{after:?}");
    assert_eq!(after.shredded, [run(1)]);
    assert_eq!(after.events, before.events);
    assert!(home.keys().sealer(run(1)).unwrap().is_none());
    assert!(home.keys().sealer(run(2)).unwrap().is_some());
}

#[test]
fn x04_a_run_has_one_owner_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let home = HomeFolder::open(folder.path()).unwrap();
    let other = HomeFolder::open(folder.path()).unwrap();
    let lock = home.lock_run(run(1)).unwrap().unwrap();
    assert!(other.lock_run(run(1)).unwrap().is_none());
    assert!(other.lock_run(run(2)).unwrap().is_some());
    let error = other.shred(run(1)).unwrap_err();
    assert!(matches!(error, StoreError::Owned { .. }), "{error}");
    drop(lock);
    assert!(other.lock_run(run(1)).unwrap().is_some());
    // Nothing piles up.
    assert_eq!(
        fs::read_dir(folder.path().join("locks")).unwrap().count(),
        0
    );
}

#[test]
fn x04_a_lock_is_held_by_one_of_many() {
    let folder = tempfile::tempdir().unwrap();
    let home = HomeFolder::open(folder.path()).unwrap();
    let owners = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..200 {
                    if let Some(_lock) = home.lock_run(run(1)).unwrap() {
                        let before = owners.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                        assert_eq!(before, 0);
                        owners.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                    }
                }
            });
        }
    });
}

#[test]
fn reading_needs_no_lock_and_sees_what_is_durable() {
    let folder = tempfile::tempdir().unwrap();
    let home = HomeFolder::open(folder.path()).unwrap();
    let journal = home.open_journal().unwrap();
    let _lock = home.lock_run(run(1)).unwrap().unwrap();
    let (mut author, log) = Author::start(&journal, 1);
    store(&log, vec![author.says("0", "word")]);
    let reader = HomeFolder::open(folder.path())
        .unwrap()
        .open_journal()
        .unwrap();
    let reader: &dyn Journal = &reader;
    assert_eq!(reader.records(run(1)).count(), 1);
    assert_eq!(reader.run_info(run(1)).unwrap().unwrap().epoch, Epoch(1));
}

#[test]
fn x08_a_home_that_is_a_file_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("home");
    fs::write(&path, b"").unwrap();
    let error = HomeFolder::open(&path).unwrap_err();
    assert_eq!(error.code(), "F0201");
    assert!(error.to_string().contains("home"), "{error}");
}
