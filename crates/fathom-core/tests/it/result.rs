//! What every episode leaves behind.

use fathom_core::budget::amounts::Amounts;
use fathom_core::contract::AgentRole;
use fathom_core::contract::stop::StopReason;
use fathom_core::episode::program::Ask;
use fathom_core::episode::result::{
    BudgetUse, Decision, EpisodeResult, EpisodeStatus, NextAction, ProgramVerdict, ResultSummary,
    TaskPacket, clip,
};
use fathom_core::id::{EpisodeId, Seq};
use fathom_core::journal::event::{EventKind, ReleaseReason, Signal};
use fathom_core::text::Text;
use fathom_core::unit::Millis;
use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::json;

use fathom_testkit::manual_host::host::{ManualHost, at};
use fathom_testkit::manual_host::samples::{AMPLE, PRICE, TIME, call, root, spawn, verdict};
use fathom_testkit::manual_host::scripted_program::Scripts;

#[test]
fn e08_a_result_has_all_its_fields() {
    let said = ProgramVerdict {
        status: EpisodeStatus::NeedsReview,
        artifacts: vec!["asset-1".into()],
        decisions: vec![Decision {
            what: "use the short form".into(),
            rationale: "it is read on phones".into(),
        }],
        verification_needed: true,
        next_actions: vec![NextAction::Task(TaskPacket {
            role: AgentRole::Verifier,
            child_type: "verify".into(),
            goal: "look whether it is there".into(),
            why: "nobody has".into(),
        })],
        report: Some("{}".into()),
        ..verdict(Some("forty-two"))
    };
    let scripts = Scripts::root(vec![
        vec![call(5, 5)],
        vec![Ask::Finish(Box::new(said.clone()))],
    ]);
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    desk.wait(Millis(250));
    desk.reply_next("four");
    let spent = Amounts {
        tokens: 9,
        calls: 1,
        money: PRICE.of(5, 4),
        episodes: 1,
        tools: 0,
    };
    let last = desk.log.of(&EpisodeId::root()).last().unwrap();
    let result = desk.result();
    assert_eq!(
        *result,
        EpisodeResult {
            status: said.status,
            stop_reason: said.stop,
            summary: said.summary,
            answer: said.answer,
            report: said.report,
            artifacts_created: said.artifacts,
            decisions: said.decisions,
            verification_needed: true,
            next_actions: said.next_actions,
            sources: Vec::new(),
            budget: BudgetUse {
                limit: AMPLE,
                spent,
                time_limit: TIME,
                time_spent: Millis(250),
            },
            depth_reached: 0,
            position: last.seq,
        }
    );
    assert_eq!(last.result(), Some(result));
}

#[test]
fn e08_a_result_reads_as_it_was_written() {
    let mut desk = ManualHost::open(Scripts::root(vec![vec![call(5, 5)]]), root(AMPLE));
    desk.reply_next("done");
    let written = serde_json::to_value(desk.result()).unwrap();
    for field in [
        "status",
        "stop_reason",
        "summary",
        "answer",
        "artifacts_created",
        "decisions",
        "verification_needed",
        "next_actions",
        "budget",
        "position",
    ] {
        assert!(written.get(field).is_some(), "{field}");
    }
    assert_eq!(written["status"], "ok");
    assert_eq!(EpisodeStatus::NeedsReview.to_string(), "needs_review");
    let read: EpisodeResult = serde_json::from_value(written).unwrap();
    assert_eq!(read, *desk.result());
}

#[test]
fn e08_the_position_is_the_last_record_of_the_chain_whatever_came_between() {
    let scripts =
        Scripts::root(vec![vec![spawn("child"), call(5, 5)]]).with("child", vec![vec![call(5, 5)]]);
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    desk.crash(desk.log.entries.len());
    desk.reply_next("one");
    desk.hand_over(ReleaseReason::Interrupted, Millis(5));
    desk.reply_next("two");
    for episode in [EpisodeId::root(), at(&[0])] {
        let last = desk.log.of(&episode).last().unwrap();
        let position = last.result().map(|result| result.position);
        assert_eq!(position, Some(last.seq), "{episode}");
        let records = desk.log.of(&episode).count() as u64;
        assert_eq!(last.seq, Seq(records - 1));
    }
}

#[test]
fn e08_a_parent_learns_its_childs_result_and_head() {
    let scripts = Scripts::root(vec![vec![spawn("child")]]).with("child", vec![vec![call(5, 5)]]);
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    desk.reply_next("part");
    let child = at(&[0]);
    let last = desk
        .log
        .entries
        .iter()
        .rfind(|entry| entry.episode == child)
        .unwrap();
    let learnt = EventKind::ChildFinished {
        child: child.clone(),
        result: Box::new(last.record.result().unwrap().clone()),
        head: last.head,
    };
    assert!(desk.log.events(&EpisodeId::root()).contains(&learnt));
    assert_eq!(desk.result().depth_reached, 1);
    assert_eq!(desk.result().stop_reason, StopReason::Success);
}

#[test]
fn e08_a_summary_too_short_or_too_long_cannot_be_read() {
    for lines in 0..12 {
        let written = json!(vec!["a line"; lines]);
        let read = serde_json::from_value::<ResultSummary>(written);
        assert_eq!(read.is_ok(), (3..=8).contains(&lines), "{lines} lines");
    }
}

fn config() -> Config {
    Config {
        failure_persistence: None,
        ..Config::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn e08_a_summary_has_three_to_eight_lines_of_bounded_length(
        must in [any::<String>(), any::<String>(), any::<String>()],
        more in prop::collection::vec(any::<String>(), 0..20),
    ) {
        let summary = ResultSummary::new(must, more);
        let count = summary.lines().count();
        prop_assert!((3..=8).contains(&count));
        for line in summary.lines() {
            prop_assert!(line.chars().count() <= ResultSummary::LINE_CHARS_MAX);
            prop_assert!(!line.contains('\n'));
        }
        let written = serde_json::to_string(&summary).unwrap();
        prop_assert_eq!(serde_json::from_str::<ResultSummary>(&written).unwrap(), summary);
    }

    #[test]
    fn e08_a_clipped_text_is_its_beginning(text in any::<String>(), chars_max in 1_usize..200) {
        let clipped = clip(&text, chars_max);
        prop_assert!(clipped.chars().count() <= chars_max);
        match clipped.strip_suffix('…') {
            Some(head) if clipped != text.trim() => prop_assert!(text.trim().starts_with(head)),
            _ => prop_assert_eq!(clipped.as_str(), text.trim()),
        }
    }

    #[test]
    fn e08_the_goal_of_a_stopped_episode_never_breaks_its_summary(goal in any::<String>()) {
        let mut started = root(AMPLE);
        started.goal = Text::new(goal);
        let mut desk = ManualHost::open(Scripts::root(vec![vec![call(5, 5)]]), started);
        desk.signal(&Signal::Cancel);
        let sent = desk.sent();
        desk.reply(&sent, "late");
        let lines = desk.result().summary.lines().count();
        prop_assert!((3..=8).contains(&lines));
    }
}
