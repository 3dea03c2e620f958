//! Symbols in a file.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::{env, fs};

use fathom_store::symbols::{Embed, SymbolStore as _, VersionedSymbols};
use tempfile::TempDir;

use crate::symbols_suite::{self as suite, Place, ask, put};

struct InAFile(TempDir);

impl InAFile {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }
}

impl Place for InAFile {
    fn open(&self, embed: Option<Arc<dyn Embed>>) -> VersionedSymbols {
        VersionedSymbols::in_file(&self.0.path().join("symbols.db"), embed).unwrap()
    }
}

#[test]
fn p06_in_a_file_every_write_is_a_version() {
    suite::every_write_is_a_version(&InAFile::new());
}

#[test]
fn p06_in_a_file_a_write_that_comes_again_changes_nothing() {
    suite::a_write_that_comes_again_changes_nothing(&InAFile::new());
}

#[test]
fn p06_in_a_file_an_update_merges_facets_and_replaces_the_rest() {
    suite::an_update_merges_facets_and_replaces_the_rest(&InAFile::new());
}

#[test]
fn p06_in_a_file_what_cannot_be_kept_is_refused() {
    suite::what_cannot_be_kept_is_refused(&InAFile::new());
}

#[test]
fn p06_in_a_file_links_are_followed_once_each() {
    suite::links_are_followed_once_each(&InAFile::new());
}

#[test]
fn p06_in_a_file_kits_and_personas_come_with_their_symbols() {
    suite::kits_and_personas_come_with_their_symbols(&InAFile::new());
}

#[test]
fn p06_in_a_file_words_are_words_and_no_syntax() {
    suite::words_are_words_and_no_syntax(&InAFile::new());
}

#[test]
fn p06_in_a_file_meaning_follows_every_write() {
    suite::meaning_follows_every_write(&InAFile::new());
}

#[test]
fn p06_in_a_file_without_a_model_nothing_stands_in_for_it() {
    suite::without_a_model_nothing_stands_in_for_it(&InAFile::new());
}

#[test]
fn p06_in_a_file_a_model_that_fails_changes_nothing() {
    suite::a_model_that_fails_changes_nothing(&InAFile::new());
}

#[test]
fn p06_in_a_file_a_bad_entry_stops_a_whole_import() {
    suite::a_bad_entry_stops_a_whole_import(&InAFile::new());
}

#[test]
fn p06_in_a_file_an_import_adds_what_is_new_and_says_how_far_it_is() {
    suite::an_import_adds_what_is_new_and_says_how_far_it_is(&InAFile::new());
}

#[test]
fn p06_in_a_file_writers_at_once_lose_nothing() {
    suite::writers_at_once_lose_nothing(&InAFile::new());
}

#[test]
fn p06_in_a_file_a_catalogue_comes_out_as_it_went_in() {
    suite::a_catalogue_comes_out_as_it_went_in(&|| Box::new(InAFile::new()));
}

/// Set in the process that is to be killed.
const FOLDER_VARIABLE: &str = "FATHOM_STORE_SYMBOLS_FOLDER";
const ANSWERED_BEFORE_KILL: usize = 40;

/// After a crash all requests come again: those that were answered, and the one that was under way.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "a crash needs a process of its own, which is this test once more"
)]
fn p06_kill_nine_applies_no_write_twice() {
    if let Some(folder) = env::var_os(FOLDER_VARIABLE) {
        let store =
            VersionedSymbols::in_file(&std::path::Path::new(&folder).join("symbols.db"), None);
        let store = store.unwrap();
        let mut out = std::io::stdout();
        for number in 0.. {
            ask(&store, number, &put(&number.to_string(), "x"));
            writeln!(out, "answered {number}").unwrap();
        }
    }
    let place = InAFile::new();
    let mut child = Command::new(env::current_exe().unwrap())
        .args([
            "--exact",
            "symbols_file::p06_kill_nine_applies_no_write_twice",
            "--nocapture",
        ])
        .env(FOLDER_VARIABLE, place.0.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let answered = lines
        .map(Result::unwrap)
        .filter(|line| line.starts_with("answered "))
        .take(ANSWERED_BEFORE_KILL)
        .count();
    assert_eq!(answered, ANSWERED_BEFORE_KILL);
    // On this system that is signal 9.
    child.kill().unwrap();
    child.wait().unwrap();
    let store = place.open(None);
    let written = u32::try_from(store.count().unwrap()).unwrap();
    assert!(written as usize >= ANSWERED_BEFORE_KILL);
    for number in 0..=written {
        let answer = ask(&store, number, &put(&number.to_string(), "x"));
        assert_eq!(answer.symbols[0].version, 1);
        assert_eq!(store.versions(&number.to_string()).unwrap().len(), 1);
    }
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "it looks at the file past the store"
)]
fn p06_versions_in_a_file_cannot_be_changed_or_removed() {
    let place = InAFile::new();
    ask(&place.open(None), 0, &put("A", "x"));
    let file = rusqlite::Connection::open(place.0.path().join("symbols.db")).unwrap();
    for change in ["UPDATE rows SET body = 'y'", "DELETE FROM rows"] {
        let error = file.execute(change, []).unwrap_err();
        assert!(error.to_string().contains("never"), "{error}");
    }
}

#[test]
fn p06_a_file_that_cannot_be_used_is_an_error_and_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("symbols.db");
    let noise =
        b"this is no database, and it is longer than a header of one hundred bytes: ".repeat(9);
    fs::write(&file, &noise).unwrap();
    let error = VersionedSymbols::in_file(&file, None).unwrap_err();
    assert_eq!(error.code(), "F0906");
    assert!(error.hint().contains("backup"), "{}", error.hint());
    assert_eq!(fs::read(&file).unwrap(), noise);
    let nowhere = folder.path().join("no/such/folder/symbols.db");
    let error = VersionedSymbols::in_file(&nowhere, None).unwrap_err();
    assert_eq!(error.code(), "F0906");
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "it changes the file past the store"
)]
fn p06_a_file_of_a_newer_format_is_left_alone() {
    let place = InAFile::new();
    drop(place.open(None));
    let path = place.0.path().join("symbols.db");
    let file = rusqlite::Connection::open(&path).unwrap();
    file.pragma_update(None, "user_version", 2).unwrap();
    let error = VersionedSymbols::in_file(&path, None).unwrap_err();
    assert_eq!(error.code(), "F0908");
}
