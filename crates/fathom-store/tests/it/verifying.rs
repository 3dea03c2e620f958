use std::fs;
use std::path::Path;

use fathom_core::id::{Digest, EpisodeId, RunId, Seq};
use fathom_core::journal::event::EventKind;
use fathom_store::journal::chain::{BreakKind, decode};
use fathom_store::{
    HomeFolder, Journal, SqliteJournal, Verification, VerifyFault, VerifyProblem, VerifyScope,
};
use rusqlite::{Connection, params};
use tempfile::TempDir;

use crate::sample::{Author, episode, result, run, store};
use crate::sqlite::raw;

/// A home with one finished run of two episodes, and a way to damage it.
struct Scene {
    _folder: TempDir,
    home: HomeFolder,
    journal: SqliteJournal,
    raw: Connection,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = HomeFolder::open(folder.path()).unwrap();
        let journal = home.open_journal().unwrap();
        let key = home.keys().create_run_key(run(1)).unwrap();
        let (author, log) = Author::start(&journal, 1);
        let mut author = Author::with_key(run(1), author.epoch, &key);
        let entries = vec![
            author.says("0", "first"),
            author.says("0.0", "of the child"),
            author.finishes("0.0", "done"),
            author.hears_of("0", "0.0"),
            author.says("0", "second to last"),
            author.finishes("0", "all done"),
        ];
        store(&log, entries);
        let raw = raw(&home.journal_path());
        Self {
            _folder: folder,
            home,
            journal,
            raw,
        }
    }

    fn verify(&self) -> Verification {
        self.home.verify(&self.journal, VerifyScope::All).unwrap()
    }

    fn execute(&self, sql: &str) {
        self.raw.execute_batch(sql).unwrap();
    }

    #[track_caller]
    fn check_problem(&self, id: &str, seq: u64, wanted: impl Fn(&VerifyFault) -> bool) {
        let report = self.verify();
        let found = report.problems.iter().any(|problem| {
            problem.run == Some(run(1))
                && problem.episode == Some(episode(id))
                && problem.seq == Some(Seq(seq))
                && wanted(&problem.what)
        });
        assert!(found, "{report:#?}");
    }
}

#[test]
fn x02_an_untouched_journal_verifies() {
    let scene = Scene::new();
    let report = scene.verify();
    assert!(report.is_ok(), "{report:#?}");
    assert_eq!((report.events, report.runs), (6, 1));
    assert!(report.notes.is_empty(), "{:?}", report.notes);
    let one = scene.home.verify(&scene.journal, VerifyScope::Run(run(1)));
    assert_eq!(one.unwrap(), report);
    let none = scene.home.verify(&scene.journal, VerifyScope::Run(run(9)));
    assert_eq!(none.unwrap().events, 0);
}

/// Flips a bit in each byte of a column, row by row, and wants each found where it is.
fn check_flips(scene: &Scene, table: &str, column: &str, wanted: impl Fn(i64) -> (EpisodeId, Seq)) {
    let query = format!("SELECT rowid, {column} FROM {table}");
    let rows: Vec<(i64, Vec<u8>)> = scene
        .raw
        .prepare(&query)
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert!(!rows.is_empty());
    let update = format!("UPDATE {table} SET {column} = ?2 WHERE rowid = ?1");
    let mut update = scene.raw.prepare(&update).unwrap();
    for (row, bytes) in rows {
        let (episode, seq) = wanted(row);
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            update.execute(params![row, flipped]).unwrap();
            let report = scene.verify();
            let located = report.problems.iter().any(|problem| {
                problem.episode.as_ref() == Some(&episode) && problem.seq == Some(seq)
            });
            assert!(located, "{table}.{column} row {row} byte {at}: {report:#?}");
        }
        update.execute(params![row, bytes]).unwrap();
    }
    assert!(scene.verify().is_ok());
}

fn place_of_event(scene: &Scene, row: i64) -> (EpisodeId, Seq) {
    let query = "SELECT episode, seq FROM events WHERE position = ?1";
    let place: (String, i64) = scene
        .raw
        .query_row(query, [row], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    (episode(&place.0), Seq(place.1.try_into().unwrap()))
}

/// The first event that refers to a text.
fn place_of_text(scene: &Scene, row: i64) -> (EpisodeId, Seq) {
    let query = "SELECT lower(hex(address)) FROM blobs WHERE rowid = ?1";
    let address: String = scene.raw.query_row(query, [row], |row| row.get(0)).unwrap();
    let query = "SELECT position FROM events WHERE instr(body, CAST(?1 AS BLOB)) > 0
                 ORDER BY position LIMIT 1";
    let first = scene
        .raw
        .query_row(query, [address], |row| row.get(0))
        .unwrap();
    place_of_event(scene, first)
}

#[test]
fn x02_a_flipped_bit_in_any_byte_of_a_record_is_found_there() {
    let scene = Scene::new();
    check_flips(&scene, "events", "body", |row| place_of_event(&scene, row));
}

#[test]
fn x02_a_flipped_bit_in_any_byte_of_a_digest_is_found_there() {
    let scene = Scene::new();
    check_flips(&scene, "events", "hash", |row| place_of_event(&scene, row));
}

#[test]
fn x02_a_flipped_bit_in_any_byte_of_a_text_is_found_there() {
    let scene = Scene::new();
    check_flips(&scene, "blobs", "body", |row| place_of_text(&scene, row));
}

#[test]
fn x02_a_text_that_is_missing_or_has_another_address_is_found() {
    let scene = Scene::new();
    let (place, seq) = place_of_text(&scene, 2);
    scene.execute("UPDATE blobs SET address = zeroblob(32) WHERE rowid = 2");
    let is_missing = |fault: &VerifyFault| matches!(fault, VerifyFault::MissingText { .. });
    scene.check_problem(&place.to_string(), seq.0, is_missing);
}

#[test]
fn x02_a_tail_cut_off_is_found_through_its_signed_head() {
    let scene = Scene::new();
    // A careful hand that also mends the list of runs.
    scene.execute(
        "DELETE FROM events WHERE episode = '0' AND seq = 3;
         UPDATE runs SET events = events - 1;",
    );
    scene.check_problem("0", 3, |fault| *fault == VerifyFault::CutOff);
}

#[test]
fn x02_a_run_that_is_gone_altogether_is_found_through_its_signed_heads() {
    let scene = Scene::new();
    scene.execute("DELETE FROM events; DELETE FROM runs;");
    scene.check_problem("0", 3, |fault| *fault == VerifyFault::CutOff);
    scene.check_problem("0.0", 1, |fault| *fault == VerifyFault::CutOff);
}

#[test]
fn x02_a_tail_cut_off_without_a_head_shows_in_the_list_of_runs() {
    let scene = Scene::new();
    fs::write(scene.home.heads_path(), b"").unwrap();
    scene.execute("DELETE FROM events WHERE episode = '0' AND seq = 3");
    let report = scene.verify();
    let fault = VerifyFault::FewerRecords {
        listed: 6,
        found: 5,
    };
    assert_eq!(report.problems.len(), 1);
    assert_eq!(report.problems[0].what, fault);
}

#[test]
fn x02_a_record_taken_out_of_the_middle_is_found() {
    let scene = Scene::new();
    scene.execute("DELETE FROM events WHERE episode = '0' AND seq = 1");
    let is_break = |fault: &VerifyFault| matches!(fault, VerifyFault::Chain(found) if found.why == BreakKind::Hash);
    scene.check_problem("0", 1, is_break);
}

#[test]
fn x02_a_misfiled_or_moved_record_is_found() {
    let scene = Scene::new();
    scene.execute("UPDATE events SET seq = 9 WHERE episode = '0' AND seq = 2");
    scene.check_problem("0", 2, |fault| *fault == VerifyFault::Misfiled);

    let scene = Scene::new();
    scene.execute("UPDATE events SET episode = '0.7' WHERE episode = '0' AND seq = 3");
    scene.check_problem("0.7", 0, |fault| matches!(fault, VerifyFault::Chain(_)));
}

#[test]
fn x02_a_run_outside_the_list_is_found() {
    let scene = Scene::new();
    scene.execute("DELETE FROM runs");
    let report = scene.verify();
    assert_eq!(report.problems[0].what, VerifyFault::Unlisted);
}

#[test]
fn x02_a_column_that_holds_nonsense_is_a_problem_of_its_run() {
    let scene = Scene::new();
    scene.execute("UPDATE events SET episode = 'nonsense' WHERE seq = 3");
    let report = scene.verify();
    let is_unreadable =
        |problem: &VerifyProblem| matches!(problem.what, VerifyFault::Unreadable { .. });
    assert!(report.problems.iter().any(is_unreadable), "{report:#?}");
}

#[test]
fn x02_a_child_that_ended_otherwise_is_found() {
    let scene = Scene::new();
    let (mut author, log) = Author::start(&scene.journal, 2);
    let kind = EventKind::ChildFinished {
        child: episode("0.0"),
        result: Box::new(result("so it says")),
        head: Digest([9; 32]),
    };
    let entries = vec![
        author.says("0.0", "not that"),
        author.entry("0", kind, Vec::new()),
    ];
    store(&log, entries);
    let report = scene.verify();
    let problem = VerifyProblem {
        run: Some(run(2)),
        episode: Some(episode("0")),
        seq: Some(Seq(0)),
        what: VerifyFault::ChildHead {
            child: episode("0.0"),
        },
    };
    assert_eq!(report.problems, [problem]);
}

/// Someone who recomputes every digest is seen through the heads, as long as the key is safe.
#[test]
fn x02_a_chain_rewritten_from_the_start_differs_from_its_heads() {
    let scene = Scene::new();
    let open: &dyn Journal = &scene.journal;
    let mut chain = fathom_store::RecordChain::new(run(1), episode("0"));
    for stored in open.records(run(1)) {
        let stored = stored.unwrap();
        if stored.episode != episode("0") {
            continue;
        }
        let mut record = decode(&stored.bytes).unwrap();
        record.event.at.0 += 1;
        let bytes = fathom_store::journal::chain::encode(&record).unwrap();
        let hash = chain.extend(&bytes);
        let update = "UPDATE events SET body = ?2, hash = ?3 WHERE position = ?1";
        let position = i64::try_from(stored.cursor.0).unwrap();
        scene
            .raw
            .execute(update, params![position, bytes, hash.0])
            .unwrap();
    }
    let report = scene.verify();
    assert_eq!(report.problems.len(), 1, "{report:#?}");
    scene.check_problem("0", 3, |fault| *fault == VerifyFault::HeadDiffers);
}

fn change_heads(path: &Path, change: impl Fn(String) -> String) {
    let before = fs::read_to_string(path).unwrap();
    let after = change(before.clone());
    assert_ne!(before, after);
    fs::write(path, after).unwrap();
}

#[test]
fn x02_heads_that_were_changed_or_signed_by_others_are_found() {
    let scene = Scene::new();
    change_heads(scene.home.heads_path(), |text| {
        text.replace("\"seq\":3", "\"seq\":2")
    });
    scene.check_problem("0", 2, |fault| *fault == VerifyFault::BadSignature);

    let scene = Scene::new();
    change_heads(scene.home.heads_path(), |text| {
        text.replace("\"key\":\"", "\"key\":\"0")
    });
    scene.check_problem("0", 3, |fault| {
        matches!(fault, VerifyFault::ForeignKey { .. })
    });

    let scene = Scene::new();
    change_heads(scene.home.heads_path(), |text| {
        text.replacen("\"run\"", "\"ran\"", 1)
    });
    let report = scene.verify();
    assert_eq!(
        report.problems[0].what,
        VerifyFault::UnreadableHead { line: 1 }
    );
}

#[test]
fn x04_a_torn_last_head_is_a_note_and_no_problem() {
    let scene = Scene::new();
    change_heads(scene.home.heads_path(), |text| {
        format!("{text}{}", &text[..50])
    });
    let report = scene.verify();
    assert!(report.is_ok(), "{report:#?}");
    assert_eq!(report.notes.len(), 1);

    fs::remove_file(scene.home.heads_path()).unwrap();
    let report = scene.verify();
    assert!(report.is_ok(), "{report:#?}");
    assert_eq!(report.notes, ["the file of signed heads is missing"]);
}

#[test]
fn x02_a_shredded_run_may_lack_its_texts_and_must_keep_its_chain() {
    let scene = Scene::new();
    scene.home.shred(run(1)).unwrap();
    scene.execute("DELETE FROM blobs");
    let report = scene.verify();
    assert!(report.is_ok(), "{report:#?}");
    assert_eq!(report.shredded, [run(1)]);
    scene.execute("UPDATE events SET hash = zeroblob(32) WHERE episode = '0' AND seq = 2");
    scene.check_problem("0", 2, |fault| matches!(fault, VerifyFault::Chain(_)));
}

#[test]
fn a_thousand_problems_are_enough() {
    let folder = tempfile::tempdir().unwrap();
    let home = HomeFolder::open(folder.path()).unwrap();
    let journal = home.open_journal().unwrap();
    home.keys().create_run_key(run(1)).unwrap();
    let (mut author, log) = Author::start(&journal, 1);
    let entries = (0..1100)
        .map(|n| author.says("0", &n.to_string()))
        .collect();
    store(&log, entries);
    raw(&home.journal_path())
        .execute_batch("DELETE FROM blobs")
        .unwrap();
    let report = home.verify(&journal, VerifyScope::All).unwrap();
    assert_eq!(report.problems.len(), 1000);
    assert_eq!(report.notes, ["100 further problems are not listed"]);
}

#[test]
fn a_problem_reads_well_and_serialises() {
    let problem = VerifyProblem {
        run: Some(run(1)),
        episode: Some(episode("0.2")),
        seq: Some(Seq(4)),
        what: VerifyFault::CutOff,
    };
    let id: RunId = run(1);
    let what = "the record is missing, but a signed head covers it";
    assert_eq!(problem.to_string(), format!("{id} 0.2:4 {what}"));
    let json = serde_json::to_value(&problem).unwrap();
    assert_eq!(json["what"], what);
    assert_eq!(json["episode"], "0.2");
}
