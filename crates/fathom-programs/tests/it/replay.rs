//! A journal is folded again: the same commands must come out, and anything else is noticed.

use std::sync::Arc;

use fathom_core::episode::program::ProgramFactory;
use fathom_core::episode::result::EpisodeStatus;
use fathom_core::id::{AskId, Epoch, Seq};
use fathom_core::journal::command::Command;
use fathom_core::journal::event::{EventKind, ModelCallOutcome};
use fathom_core::run::Run;
use fathom_core::run::step::ReplayDifference;
use fathom_core::text::Text;
use fathom_core::unit::Millis;
use fathom_programs::BuiltInPrograms;
use fathom_programs::direct::{CRITIQUE, DirectConfig, ReviewRules};

use fathom_testkit::manual_host::host::{ManualHost, at};
use fathom_testkit::manual_host::log::Journal;
use fathom_testkit::manual_host::samples::{AMPLE, root};

/// A reviewed answer with a crash in the middle.
fn recorded() -> Journal {
    let params = DirectConfig {
        review: Some(ReviewRules {
            rubric: "It is short.".into(),
            revisions_max: 1,
        }),
        ..DirectConfig::default()
    };
    let mut started = root(AMPLE);
    started.program = params.spec();
    started.contract.recursion.allowed_child_types = vec![CRITIQUE.into()];
    let mut desk = ManualHost::open(BuiltInPrograms, started);
    desk.wait(Millis(7));
    desk.reply_next("A rather long answer.");
    desk.reply_next("FAIL: too long.");
    desk.crash(desk.log.entries.len());
    desk.reply_next("Short.");
    desk.reply_next("PASS");
    assert_eq!(desk.result().status, EpisodeStatus::Ok);
    desk.log
}

fn differences(log: &Journal) -> Vec<ReplayDifference> {
    let programs: Arc<dyn ProgramFactory> = Arc::new(BuiltInPrograms);
    let mut run: Run = Run::new(Epoch(9), programs);
    log.entries
        .iter()
        .filter_map(|entry| run.refold(&entry.episode, &entry.record, entry.head))
        .collect()
}

#[test]
fn x02_an_honest_journal_folds_to_what_it_says() {
    assert_eq!(differences(&recorded()), []);
}

#[test]
fn x02_a_journal_that_went_through_json_folds_to_the_same() {
    let mut log = recorded();
    for entry in &mut log.entries {
        let line = serde_json::to_string(&entry.record).unwrap();
        entry.record = serde_json::from_str(&line).unwrap();
    }
    assert_eq!(log.entries, recorded().entries);
    assert_eq!(differences(&log), []);
}

#[test]
fn x02_a_changed_command_is_noticed_where_it_stands() {
    let honest = recorded();
    for place in 0..honest.entries.len() {
        let mut log = honest.clone();
        log.entries[place]
            .record
            .commands
            .push(Command::CancelCall {
                ask: AskId(0),
                attempt: 1,
            });
        let found = differences(&log);
        assert_eq!(found.len(), 1);
        assert_eq!(
            (&found[0].episode, found[0].seq),
            (
                &honest.entries[place].episode,
                honest.entries[place].record.seq
            )
        );
        assert_eq!(found[0].recorded, log.entries[place].record.commands);
        assert_eq!(found[0].folded, honest.entries[place].record.commands);
    }
}

#[test]
fn x02_a_changed_reply_is_noticed() {
    let honest = recorded();
    let mut tampered = 0;
    for place in 0..honest.entries.len() {
        let mut log = honest.clone();
        if let EventKind::ModelReplied {
            outcome: ModelCallOutcome::Replied(reply),
            ..
        } = &mut log.entries[place].record.event.kind
        {
            reply.text = Text::from("FAIL: forged");
            tampered += 1;
            assert!(!differences(&log).is_empty(), "a forged reply at {place}");
        }
    }
    assert_eq!(tampered, 4);
}

#[test]
fn x02_a_changed_usage_is_noticed() {
    let mut log = recorded();
    for entry in &mut log.entries {
        if let EventKind::ModelReplied {
            outcome: ModelCallOutcome::Replied(reply),
            ..
        } = &mut entry.record.event.kind
        {
            reply.usage.output_tokens += 1;
            break;
        }
    }
    assert!(!differences(&log).is_empty(), "the result counts it");
}

#[test]
fn x02_a_dropped_record_is_noticed() {
    let honest = recorded();
    for place in 0..honest.entries.len() {
        let mut log = honest.clone();
        let dropped = log.entries.remove(place);
        // Of the end of a chain only its head knows, which its parent keeps.
        let is_last = !log.entries[place..]
            .iter()
            .any(|entry| entry.episode == dropped.episode);
        assert_eq!(
            differences(&log).is_empty(),
            is_last,
            "{} {} {}",
            dropped.episode,
            dropped.record.seq,
            dropped.record.event.kind.name()
        );
    }
}

#[test]
fn x02_a_record_out_of_place_is_noticed() {
    let honest = recorded();
    // Something happens to an episode that never began.
    let mut log = Journal::default();
    log.entries.push(honest.entries[1].clone());
    assert_eq!(differences(&log).len(), 1);
    // An episode begins twice.
    let mut log = honest.clone();
    log.entries.insert(1, honest.entries[0].clone());
    assert!(!differences(&log).is_empty());
    // Something happens to an episode that is over.
    let mut log = honest.clone();
    let mut late = honest.entries[1].clone();
    late.record.seq = Seq(99);
    log.entries.push(late);
    let found = differences(&log);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].seq, Seq(99));
}

#[test]
fn x02_the_root_learns_the_head_of_its_child() {
    let log = recorded();
    for entry in log.entries.iter().filter(|entry| entry.episode.is_root()) {
        if let EventKind::ChildFinished { child, head, .. } = &entry.record.event.kind {
            let last = log.entries.iter().rfind(|entry| entry.episode == *child);
            assert_eq!(last.map(|entry| entry.head), Some(*head));
        }
    }
    assert_eq!(log.of(&at(&[1])).count(), log.of(&at(&[0])).count());
}

#[test]
fn x02_a_refolded_run_has_the_result_and_nothing_to_do() {
    let mut desk = ManualHost::new(BuiltInPrograms);
    desk.log = recorded();
    let before = desk.log.entries.len();
    desk.take_over();
    assert!(desk.is_over());
    assert!(desk.steps.is_empty());
    assert_eq!(desk.log.entries.len(), before, "nothing more is written");
}
