use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;

use fathom_core::id::{Digest, Seq};
use fathom_core::unit::Timestamp;
use fathom_store::journal::heads::{
    ChainHead, FileEnd, HeadFlush, HeadsWriter, SignedHead, read_heads,
};
use fathom_store::{HomeFolder, Journal, KeyRing, StoreError};
use tempfile::TempDir;

use crate::sample::{Author, episode, run, store};

fn head(seq: u64) -> ChainHead {
    ChainHead {
        run: run(1),
        episode: episode("0"),
        seq: Seq(seq),
        hash: Digest([7; 32]),
        at: Timestamp(5),
    }
}

fn all(path: &Path) -> Vec<SignedHead> {
    read_heads(path, |_| true).unwrap().heads
}

fn places(path: &Path) -> Vec<(String, u64)> {
    let place = |signed: SignedHead| (signed.head.episode.to_string(), signed.head.seq.0);
    all(path).into_iter().map(place).collect()
}

struct File {
    folder: TempDir,
    path: PathBuf,
    writer: HeadsWriter,
}

fn file() -> File {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("heads.jsonl");
    let ring = KeyRing::open(folder.path().join("keys")).unwrap();
    let writer = HeadsWriter::open(&path, ring.signing_key().unwrap()).unwrap();
    File {
        folder,
        path,
        writer,
    }
}

#[test]
fn x02_a_head_is_signed_and_every_part_of_it_counts() {
    let file = file();
    file.writer.append(vec![head(1)], HeadFlush::Now).unwrap();
    let signed = all(&file.path).remove(0);
    assert_eq!(signed.head, head(1));
    let ring = KeyRing::open(file.folder.path().join("keys")).unwrap();
    let key = ring.signing_key().unwrap().verifying_key();
    assert!(signed.is_signed_by(&key));

    let changed = |change: fn(&mut SignedHead)| {
        let mut changed = signed.clone();
        change(&mut changed);
        changed.is_signed_by(&key)
    };
    assert!(!changed(|signed| signed.head.run = run(2)));
    assert!(!changed(|signed| signed.head.episode = episode("0.0")));
    assert!(!changed(|signed| signed.head.seq = Seq(2)));
    assert!(!changed(|signed| signed.head.hash = Digest([8; 32])));
    assert!(!changed(|signed| signed.head.at = Timestamp(6)));
    assert!(!changed(
        |signed| signed.signature = "no signature".to_owned()
    ));
}

#[test]
fn x04_a_torn_line_is_passed_over_and_cut_off_by_the_next() {
    let file = file();
    let heads = vec![head(0), head(1)];
    file.writer.append(heads, HeadFlush::Now).unwrap();
    let whole = fs::read(&file.path).unwrap();
    fs::write(&file.path, &whole[..whole.len() - 30]).unwrap();
    let found = read_heads(&file.path, |_| true).unwrap();
    assert_eq!(found.heads.len(), 1);
    assert_eq!(found.end, FileEnd::Torn);
    assert!(found.unreadable_lines.is_empty());

    file.writer
        .append(vec![head(2)], HeadFlush::Lazily)
        .unwrap();
    let found = read_heads(&file.path, |_| true).unwrap();
    let seqs: Vec<_> = found.heads.iter().map(|signed| signed.head.seq.0).collect();
    assert_eq!(seqs, [0, 2]);
    assert_eq!(found.end, FileEnd::Whole);
    assert!(found.unreadable_lines.is_empty());
}

#[test]
fn x04_a_file_that_is_nothing_but_a_torn_line_begins_anew() {
    let file = file();
    fs::write(&file.path, b"{\"run\":").unwrap();
    file.writer.append(vec![head(2)], HeadFlush::Now).unwrap();
    assert_eq!(places(&file.path), [("0".to_owned(), 2)]);
}

#[test]
fn x08_lines_that_say_nothing_are_named() {
    let file = file();
    file.writer.append(vec![head(0)], HeadFlush::Now).unwrap();
    let mut other = fs::OpenOptions::new()
        .append(true)
        .open(&file.path)
        .unwrap();
    other.write_all(b"nonsense\n").unwrap();
    other.write_all(&b"x".repeat(5000)).unwrap();
    other.write_all(b"\n").unwrap();
    file.writer.append(vec![head(1)], HeadFlush::Now).unwrap();
    let found = read_heads(&file.path, |_| true).unwrap();
    assert_eq!(found.heads.len(), 2);
    assert_eq!(found.unreadable_lines, [2, 3, 4]);
}

#[test]
fn a_missing_file_has_no_heads() {
    let folder = tempfile::tempdir().unwrap();
    let found = read_heads(&folder.path().join("none"), |_| true).unwrap();
    assert_eq!(found.end, FileEnd::Missing);
}

#[test]
fn several_writers_share_a_file_line_by_line() {
    let file = file();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for seq in 0..50 {
                    file.writer
                        .append(vec![head(seq)], HeadFlush::Lazily)
                        .unwrap();
                }
            });
        }
    });
    let found = read_heads(&file.path, |_| true).unwrap();
    assert_eq!(found.heads.len(), 200);
    assert!(found.unreadable_lines.is_empty());
}

#[test]
fn x02_heads_are_signed_at_ends_and_checkpoints_and_every_64_records() {
    let folder = tempfile::tempdir().unwrap();
    let home = HomeFolder::open(folder.path().join("home")).unwrap();
    let journal = home.open_journal().unwrap();
    let (mut author, log) = Author::start(&journal, 1);
    store(
        &log,
        vec![author.starts("0", "goal"), author.starts("0.0", "part")],
    );
    assert_eq!(places(home.heads_path()), []);
    // An end is signed before it counts as durable, so it can be read at once.
    store(&log, vec![author.finishes("0.0", "done")]);
    let mut wanted = vec![("0.0".to_owned(), 1)];
    assert_eq!(places(home.heads_path()), wanted);
    store(&log, vec![author.says("0", "important").checkpoint()]);
    wanted.push(("0".to_owned(), 1));
    assert_eq!(places(home.heads_path()), wanted);
    for _ in 0..64 {
        store(&log, vec![author.says("0", "word")]);
    }
    // The lazy line is written before the next commit's answer, if not before its own.
    store(&log, vec![author.says("0", "word")]);
    wanted.push(("0".to_owned(), 65));
    assert_eq!(places(home.heads_path()), wanted);
    assert!(
        home.verify(&journal, fathom_store::VerifyScope::All)
            .unwrap()
            .is_ok()
    );
}

#[test]
fn x02_an_end_whose_head_cannot_be_kept_is_not_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let home = HomeFolder::open(folder.path().join("home")).unwrap();
    let home = home.with_heads(elsewhere.join("heads.jsonl"));
    let journal = home.open_journal().unwrap();
    let (mut author, log) = Author::start(&journal, 1);
    let (mut bystander, bystander_log) = Author::start(&journal, 2);
    fs::remove_dir_all(&elsewhere).unwrap();

    store(&log, vec![author.says("0", "no head, no matter")]);
    let last = log.append(author.finishes("0", "done")).unwrap();
    let error = log.wait_durable(last).unwrap_err();
    assert!(matches!(error, StoreError::Io { .. }), "{error}");
    store(&bystander_log, vec![bystander.says("0", "goes on")]);
    // It is stored all the same, for whoever resumes the run.
    let journal: &dyn Journal = &journal;
    assert_eq!(journal.records(run(1)).count(), 2);
}
