//! Histories of sessions, and what is noticed when somebody has been at their files.

use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use fathom_core::domain::session::SessionSpeaker;
use fathom_core::unit::Timestamp;
use fathom_store::history::{
    HistoryEntry, HistoryError, HistoryHead, RECORD_BYTES_MAX, SESSION_BYTES_MAX,
    SessionHistoryStore,
};
use fathom_store::{HomeFolder, KeyRing};

use crate::age_file::Identity;
use crate::sample::run;

const LINES: u64 = 20;

/// A folder with keys and histories.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder }
    }

    fn keys(&self) -> KeyRing {
        KeyRing::open(self.folder.path().join("keys")).unwrap()
    }

    fn histories(&self) -> PathBuf {
        self.folder.path().join("history")
    }

    fn open(
        &self,
        session: &str,
        known: Option<&HistoryHead>,
    ) -> Result<SessionHistoryStore, HistoryError> {
        SessionHistoryStore::open(&self.histories(), session, &self.keys(), known)
    }

    /// A session of some lines, its head and its file.
    fn session(&self, session: &str, lines: u64) -> (HistoryHead, PathBuf) {
        let before = self.files();
        let mut history = self.open(session, None).unwrap();
        for n in 1..=lines {
            history.append(&format!("ask-{n}"), &said(n)).unwrap();
        }
        let mut files = self.files();
        files.retain(|file| !before.contains(file));
        assert_eq!(files.len(), 1);
        (history.head(), files.remove(0))
    }

    fn files(&self) -> Vec<PathBuf> {
        let Ok(files) = fs::read_dir(self.histories()) else {
            return Vec::new();
        };
        let files = files.map(|file| file.unwrap().path());
        files
            .filter(|file| file.extension().is_some_and(|ext| ext == "jsonl"))
            .collect()
    }

    fn key_files(&self) -> Vec<String> {
        let files = fs::read_dir(self.folder.path().join("keys")).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with("session-")).collect()
    }
}

fn entry(who: SessionSpeaker, text: impl Into<String>) -> HistoryEntry {
    HistoryEntry {
        who,
        text: text.into(),
        at_ms: Timestamp(1_800_000_000_000),
        run: run(1),
    }
}

fn said(n: u64) -> Vec<HistoryEntry> {
    vec![
        entry(SessionSpeaker::User, format!("question {n}?")),
        entry(SessionSpeaker::Reply, format!("answer {n}")),
    ]
}

fn said_until(lines: u64) -> Vec<HistoryEntry> {
    (1..=lines).flat_map(said).collect()
}

fn lines_of(file: &Path) -> Vec<Vec<u8>> {
    let text = fs::read(file).unwrap();
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    lines.map(<[u8]>::to_vec).collect()
}

/// The line that an error names.
fn named(error: &HistoryError) -> Option<u64> {
    match error {
        HistoryError::NotARecord { line }
        | HistoryError::Moved { line, .. }
        | HistoryError::Changed { line }
        | HistoryError::CutShort { line, .. }
        | HistoryError::OtherHead { line }
        | HistoryError::MissingKey { line, .. } => Some(*line),
        _ => None,
    }
}

/// Puts another text in the place of a session's file, and expects that this is noticed at a line.
#[track_caller]
fn expect_noticed(place: &Place, known: &HistoryHead, file: &Path, text: &[u8], lines: Range<u64>) {
    fs::write(file, text).unwrap();
    let error = place.open("demo", Some(known)).unwrap_err();
    let line = named(&error).unwrap();
    assert!(lines.contains(&line), "{error}, not in {lines:?}");
    assert!(error.to_string().contains(&format!("line {line}")));
}

#[test]
fn p08_what_was_said_is_read_again_in_order() {
    let place = Place::new();
    let (head, file) = place.session("demo", LINES);
    assert_eq!(head.sequence, LINES);
    let mut history = place.open("demo", Some(&head)).unwrap();
    assert_eq!(history.read().unwrap(), said_until(LINES));
    assert_eq!(history.head(), head);
    assert_eq!(lines_of(&file).len() as u64, LINES);
}

#[test]
fn p08_the_file_shows_neither_words_nor_the_session() {
    let place = Place::new();
    let (_, file) = place.session("demo", 2);
    let text = fs::read_to_string(&file).unwrap();
    for word in ["question", "answer", "demo", "user", "ask-1"] {
        assert!(!text.contains(word), "{word}");
        assert!(!file.file_name().unwrap().to_str().unwrap().contains(word));
    }
    // The same words twice do not look the same.
    let mut history = place.open("demo", None).unwrap();
    history.append("a", &said(1)).unwrap();
    history.append("b", &said(1)).unwrap();
    let lines = lines_of(&file);
    assert_ne!(lines[2][20..60], lines[3][20..60]);
}

#[test]
fn p08_every_changed_byte_is_noticed_in_its_line() {
    let place = Place::new();
    let (head, file) = place.session("demo", LINES);
    let good = fs::read(&file).unwrap();
    let mut line = 1;
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1 << (at % 8);
        expect_noticed(&place, &head, &file, &bad, line..line + 1);
        line += u64::from(good[at] == b'\n');
    }
    assert_eq!(line, LINES + 1);
}

#[test]
fn p08_every_dropped_line_is_noticed() {
    let place = Place::new();
    let (head, file) = place.session("demo", LINES);
    let good = lines_of(&file);
    for (at, line) in (0..good.len()).zip(1..) {
        let mut bad = good.clone();
        bad.remove(at);
        expect_noticed(&place, &head, &file, &bad.concat(), line..line + 1);
    }
}

#[test]
fn p08_every_swapped_pair_of_lines_is_noticed() {
    let place = Place::new();
    let (head, file) = place.session("demo", LINES);
    let good = lines_of(&file);
    for (first, line) in (0..good.len()).zip(1..) {
        for second in first + 1..good.len() {
            let mut bad = good.clone();
            bad.swap(first, second);
            expect_noticed(&place, &head, &file, &bad.concat(), line..line + 1);
        }
    }
}

#[test]
fn p08_every_line_that_is_there_twice_is_noticed() {
    let place = Place::new();
    let (head, file) = place.session("demo", LINES);
    let good = lines_of(&file);
    for from in 0..good.len() {
        for (to, line) in (0..=good.len()).zip(1..) {
            let mut bad = good.clone();
            bad.insert(to, good[from].clone());
            // A copy right before its original is found where the original is.
            let line = if to == from { line + 1 } else { line };
            expect_noticed(&place, &head, &file, &bad.concat(), line..line + 1);
        }
    }
}

#[test]
fn p08_every_cut_of_the_tail_is_noticed() {
    let place = Place::new();
    let (head, file) = place.session("demo", LINES);
    let good = fs::read(&file).unwrap();
    let mut line = 1;
    for until in 0..good.len() {
        expect_noticed(&place, &head, &file, &good[..until], line..line + 1);
        line += u64::from(good[until] == b'\n');
    }
    fs::remove_file(&file).unwrap();
    let error = place.open("demo", Some(&head)).unwrap_err();
    assert!(
        matches!(
            error,
            HistoryError::CutShort {
                line: 1,
                lines: LINES
            }
        ),
        "{error}"
    );
}

#[test]
fn p08_a_line_of_another_session_is_noticed() {
    let place = Place::new();
    let (head, file) = place.session("demo", LINES);
    let (_, other) = place.session("other", LINES);
    let good = lines_of(&file);
    let others = lines_of(&other);
    for (at, line) in (0..good.len()).zip(1..) {
        let mut bad = good.clone();
        bad[at].clone_from(&others[at]);
        expect_noticed(&place, &head, &file, &bad.concat(), line..line + 1);
        bad.insert(at, good[at].clone());
        expect_noticed(&place, &head, &file, &bad.concat(), line + 1..line + 2);
    }
    // The whole file of another session.
    expect_noticed(&place, &head, &file, &others.concat(), 1..2);
}

#[test]
fn p08_a_line_under_another_number_is_noticed() {
    let place = Place::new();
    let (head, file) = place.session("demo", LINES);
    let good = lines_of(&file);
    // Whoever drops a line may number those after it anew.
    let mut bad = good.clone();
    bad.remove(4);
    for (line, n) in bad.iter_mut().zip(1_u64..) {
        let mut json: serde_json::Value = serde_json::from_slice(line).unwrap();
        json["n"] = n.into();
        *line = format!("{json}\n").into_bytes();
    }
    assert_eq!(bad[..4], good[..4]);
    expect_noticed(&place, &head, &file, &bad.concat(), 5..6);
}

#[test]
fn p08_a_history_that_is_older_than_the_journal_is_noticed() {
    let place = Place::new();
    let (_, file) = place.session("demo", 2);
    let old = fs::read(&file).unwrap();
    let mut history = place.open("demo", None).unwrap();
    let head = history.append("then", &said(3)).unwrap();
    drop(history);
    expect_noticed(&place, &head, &file, &old, 3..4);
    // As long as it was, and with a true last line, but another one than the journal knows.
    let mut history = place.open("demo", None).unwrap();
    history.append("instead", &said(4)).unwrap();
    drop(history);
    let error = place.open("demo", Some(&head)).unwrap_err();
    assert!(
        matches!(error, HistoryError::OtherHead { line: 3 }),
        "{error}"
    );
}

#[test]
fn p08_the_same_batch_is_added_once() {
    let place = Place::new();
    let mut history = place.open("demo", None).unwrap();
    let first = history.append("a", &said(1)).unwrap();
    assert_eq!(history.append("a", &said(1)).unwrap(), first);
    let second = history.append("b", &said(2)).unwrap();
    drop(history);
    // The process died before the journal had the heads.
    let mut history = place.open("demo", None).unwrap();
    assert_eq!(history.append("b", &said(2)).unwrap(), second);
    assert_eq!(history.append("a", &said(1)).unwrap(), second);
    assert_eq!(history.read().unwrap(), said_until(2));
}

#[test]
fn p08_a_line_that_a_crash_tore_is_left_out_and_written_again() {
    let place = Place::new();
    let (_, file) = place.session("demo", 3);
    let whole = lines_of(&file);
    let known = {
        fs::write(&file, whole[..2].concat()).unwrap();
        place.open("demo", None).unwrap().head()
    };
    assert_eq!(known.sequence, 2);
    for until in 0..whole[2].len() {
        fs::write(&file, [&whole[..2].concat(), &whole[2][..until]].concat()).unwrap();
        let mut history = place.open("demo", Some(&known)).unwrap();
        assert_eq!(history.read().unwrap(), said_until(2));
        let head = history.append("ask-3", &said(3)).unwrap();
        drop(history);
        let mut history = place.open("demo", Some(&head)).unwrap();
        assert_eq!(history.read().unwrap(), said_until(3));
    }
}

#[test]
fn p08_a_last_line_with_a_lost_page_was_never_finished() {
    let place = Place::new();
    let (head, file) = place.session("demo", 3);
    let mut text = fs::read(&file).unwrap();
    let until = text.len() - 1;
    text[until - 50..until].fill(0);
    expect_noticed(&place, &head, &file, &text, 3..4);
    let known = {
        let lines = lines_of(&file);
        fs::write(&file, lines[..2].concat()).unwrap();
        place.open("demo", None).unwrap().head()
    };
    fs::write(&file, &text).unwrap();
    let mut history = place.open("demo", Some(&known)).unwrap();
    assert_eq!(history.read().unwrap(), said_until(2));
}

#[test]
fn p08_a_changed_line_that_the_journal_does_not_know_yet_is_noticed() {
    let place = Place::new();
    let (_, file) = place.session("demo", 3);
    let mut text = fs::read(&file).unwrap();
    let at = text.len() - 20;
    text[at] ^= 1;
    fs::write(&file, &text).unwrap();
    let error = place.open("demo", None).unwrap_err();
    assert_eq!(named(&error), Some(3), "{error}");
}

#[test]
fn p08_a_session_has_one_owner() {
    let place = Place::new();
    let history = place.open("demo", None).unwrap();
    let error = place.open("demo", None).unwrap_err();
    assert!(matches!(error, HistoryError::Owned), "{error}");
    place.open("other", None).unwrap();
    drop(history);
    place.open("demo", None).unwrap();
}

#[test]
fn p08_a_change_under_the_owners_hands_is_noticed() {
    let place = Place::new();
    let (head, file) = place.session("demo", 3);
    let mut history = place.open("demo", Some(&head)).unwrap();
    let lines = lines_of(&file);
    fs::write(&file, lines[..2].concat()).unwrap();
    assert_eq!(named(&history.read().unwrap_err()), Some(3));
}

#[test]
fn p08_a_name_of_a_session_is_never_a_path() {
    let place = Place::new();
    let names = [
        "../../out",
        "/etc/passwd",
        "a/b",
        "..",
        "\0",
        "Ünïcode 🜔",
        "x\ny",
    ];
    for name in names {
        let mut history = place.open(name, None).unwrap();
        history.append("a", &said(1)).unwrap();
        drop(history);
        let mut history = place.open(name, None).unwrap();
        assert_eq!(history.read().unwrap(), said(1));
    }
    assert_eq!(place.files().len(), names.len());
    for file in place.files() {
        let stem = file.file_stem().unwrap().to_str().unwrap();
        assert!(stem.len() == 64 && stem.bytes().all(|b| b.is_ascii_hexdigit()));
    }
    let around = fs::read_dir(place.folder.path()).unwrap();
    assert_eq!(around.count(), 2);
    for name in [String::new(), "x".repeat(SESSION_BYTES_MAX + 1)] {
        let error = place.open(&name, None).unwrap_err();
        assert!(matches!(error, HistoryError::Session { .. }), "{error}");
    }
    place.open(&"x".repeat(SESSION_BYTES_MAX), None).unwrap();
}

#[test]
fn p08_a_batch_that_is_too_large_changes_nothing() {
    let place = Place::new();
    let mut history = place.open("demo", None).unwrap();
    let head = history.append("a", &said(1)).unwrap();
    let large = [entry(SessionSpeaker::Note, "x".repeat(RECORD_BYTES_MAX))];
    let error = history.append("b", &large).unwrap_err();
    assert!(matches!(error, HistoryError::TooLarge { .. }), "{error}");
    assert_eq!(history.head(), head);
    history.append("b", &said(2)).unwrap();
    assert_eq!(history.read().unwrap(), said_until(2));
}

#[test]
fn p08_rotation_seals_everything_under_a_new_key() {
    let place = Place::new();
    let (before, file) = place.session("demo", 3);
    let old_keys = place.key_files();
    let old_lines = lines_of(&file);
    let history = place.open("demo", Some(&before)).unwrap();
    let mut history = history.rotate().unwrap();
    let after = history.head();
    assert_eq!(history.read().unwrap(), said_until(3));
    assert_eq!(history.append("ask-3", &said(3)).unwrap(), after);
    let last = history.append("ask-4", &said(4)).unwrap();
    drop(history);

    let keys = place.key_files();
    assert_eq!((old_keys.len(), keys.len()), (1, 1));
    assert_ne!(old_keys, keys);
    for line in lines_of(&file) {
        assert!(line.windows(8).any(|part| part == b"\"key\":2,"));
    }
    // Heads of before and of after are known; a crash may have come before the journal had the new one.
    for known in [before, after, last] {
        let mut history = place.open("demo", Some(&known)).unwrap();
        assert_eq!(history.read().unwrap(), said_until(4));
        assert_eq!(history.head(), last);
    }
    // What was cut is noticed with the old head as well.
    let lines = lines_of(&file);
    expect_noticed(&place, &before, &file, &lines[..3].concat(), 3..4);
    expect_noticed(&place, &after, &file, &lines[..3].concat(), 4..5);
    // An old copy has no key any more.
    fs::write(&file, old_lines.concat()).unwrap();
    let error = place.open("demo", None).unwrap_err();
    assert!(
        matches!(error, HistoryError::MissingKey { line: 1, key: 1 }),
        "{error}"
    );
}

#[test]
fn p08_a_rotation_that_a_crash_cut_short_is_done_again() {
    let place = Place::new();
    let (head, file) = place.session("demo", 3);
    fs::write(file.with_extension("new"), b"half").unwrap();
    let history = place.open("demo", Some(&head)).unwrap();
    let mut history = history.rotate().unwrap().rotate().unwrap();
    assert_eq!(history.head().sequence, 5);
    assert_eq!(history.read().unwrap(), said_until(3));
    assert!(!file.with_extension("new").exists());
    assert_eq!(place.key_files().len(), 1);
}

#[test]
fn p08_an_empty_history_can_be_rotated() {
    let place = Place::new();
    let history = place.open("demo", None).unwrap();
    assert_eq!(history.head(), HistoryHead::default());
    let head = history.rotate().unwrap().head();
    let mut history = place.open("demo", Some(&head)).unwrap();
    assert_eq!(history.read().unwrap(), []);
}

#[test]
fn p08_an_export_opens_with_the_identity_of_age() {
    let place = Place::new();
    let (head, _) = place.session("demo", 3);
    let mut history = place.open("demo", Some(&head)).unwrap();
    let first = Identity::generate();
    let second = Identity::generate();
    let stranger = Identity::generate();
    let recipients = [&first, &second].map(Identity::recipient);
    let recipients = recipients.each_ref().map(String::as_str);
    let mut out = Vec::new();
    history.export_age(&recipients, &mut out).unwrap();
    assert!(out.starts_with(b"age-encryption.org/v1\n"));

    for identity in [&first, &second] {
        let plain = identity.open(&out).unwrap();
        let plain = String::from_utf8(plain).unwrap();
        let entries = plain
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        assert_eq!(entries.collect::<Vec<HistoryEntry>>(), said_until(3));
    }
    assert_eq!(stranger.open(&out), None);
}

#[test]
fn p08_an_export_for_nobody_is_refused_and_never_repeats_a_secret() {
    let place = Place::new();
    let mut history = place.open("demo", None).unwrap();
    let identity = Identity::generate();
    let secret = identity.secret();
    // It is one, so somebody could give it by mistake.
    assert_eq!(Identity::read(&secret).recipient(), identity.recipient());
    for recipients in [&[][..], &[""], &["age1"], &[&*secret], &["x y z"]] {
        let mut out = Vec::new();
        let error = history.export_age(recipients, &mut out).unwrap_err();
        assert!(matches!(error, HistoryError::Recipient { .. }), "{error}");
        assert!(!format!("{error} {error:?}").contains(&secret[16..]));
        assert!(out.is_empty());
    }
}

#[test]
fn p08_an_export_that_cannot_be_written_says_so() {
    struct Full;
    impl io::Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let place = Place::new();
    let mut history = place.open("demo", None).unwrap();
    let recipient = Identity::generate().recipient();
    let error = history.export_age(&[&recipient], &mut Full).unwrap_err();
    assert!(matches!(error, HistoryError::Export { .. }), "{error}");
}

#[test]
fn p08_a_head_goes_through_json() {
    let place = Place::new();
    let (head, _) = place.session("demo", 1);
    let json = serde_json::to_string(&head).unwrap();
    assert_eq!(serde_json::from_str::<HistoryHead>(&json).unwrap(), head);
    let bad = r#"{"sequence":1,"tag":"AAAA"}"#;
    assert!(serde_json::from_str::<HistoryHead>(bad).is_err());
}

#[test]
fn p08_a_home_keeps_histories_beside_its_journal() {
    let folder = tempfile::tempdir().unwrap();
    let home = HomeFolder::open(folder.path()).unwrap();
    let mut history = home.open_history("demo", None).unwrap();
    let head = history.append("a", &said(1)).unwrap();
    drop(history);
    let mut history = home.open_history("demo", Some(&head)).unwrap();
    assert_eq!(history.read().unwrap(), said(1));
    assert_eq!(
        fs::read_dir(folder.path().join("history")).unwrap().count(),
        2
    );
}

#[test]
fn p08_a_line_from_another_past_of_the_session_is_noticed() {
    let place = Place::new();
    let (_, file) = place.session("demo", 4);
    let one = lines_of(&file);
    fs::write(&file, &one[0]).unwrap();
    let mut history = place.open("demo", None).unwrap();
    for n in 2..=4 {
        history.append(&format!("ask-{n}"), &said(n)).unwrap();
    }
    drop(history);
    let other = lines_of(&file);
    assert_eq!(one[0], other[0]);
    // Each of the lines is genuine and has the right number.
    let mixed = [&one[..2], &other[2..]].concat().concat();
    expect_noticed(&place, &HistoryHead::default(), &file, &mixed, 3..4);
}

#[test]
fn p08_no_byte_of_a_line_is_free() {
    let place = Place::new();
    let (head, file) = place.session("demo", 3);
    let good = lines_of(&file);
    let line = String::from_utf8(good[1].clone()).unwrap();
    let ways = [
        line.replacen('{', "{ ", 1),
        line.replacen("\"n\"", "\"\\u006e\"", 1),
        line.replacen("\"n\":2,\"key\":1", "\"key\":1,\"n\":2", 1),
        line.replacen('}', ",\"more\":1}", 1),
        line.replacen('\n', "\r\n", 1),
        format!("\n{line}"),
        format!("\u{feff}{line}"),
    ];
    for way in ways {
        assert_ne!(way, line);
        let bad = [&good[0], way.as_bytes(), &good[2]].concat();
        expect_noticed(&place, &head, &file, &bad, 2..3);
    }
}
