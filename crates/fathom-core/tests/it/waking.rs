//! Moments that a program waits for, and messages that it posts.

use fathom_core::budget::amounts::Dimension;
use fathom_core::contract::stop::{ErrorClass, StopReason};
use fathom_core::council_bus::{CouncilRole, Envelope, MessageDraft, MessageId, messages};
use fathom_core::episode::program::Ask;
use fathom_core::id::{AskId, EpisodeId};
use fathom_core::journal::command::{Command, ExternalWait};
use fathom_core::journal::event::{EventKind, ReleaseReason};
use fathom_core::run::step::HostStep;
use fathom_core::unit::{Millis, Timestamp};

use fathom_testkit::manual_host::host::{ManualHost, at};
use fathom_testkit::manual_host::samples::{AMPLE, BEGIN, TIME, call, root, spawn};
use fathom_testkit::manual_host::scripted_program::{Heard, Scripts};

const SOON: Timestamp = BEGIN.plus(Millis(30_000));
const DAY: Millis = Millis(86_400_000);

fn timers(desk: &ManualHost) -> Vec<Timestamp> {
    let steps = desk.steps.iter();
    steps
        .filter_map(|step| match step {
            HostStep::Timer { at, .. } => Some(*at),
            _ => None,
        })
        .collect()
}

fn post(words: &str) -> Ask {
    Ask::Post(Box::new(MessageDraft::info(CouncilRole::Lite, words)))
}

fn tick(desk: &mut ManualHost, at: Timestamp) {
    desk.now = at;
    desk.deliver(&EpisodeId::root(), EventKind::Tick);
}

#[test]
fn c11_a_program_is_told_when_its_moment_comes() {
    let scripts = Scripts::root(vec![vec![Ask::Wake(SOON)]]);
    let mut desk = ManualHost::open(scripts.clone(), root(AMPLE));
    assert!(!desk.is_over(), "who waits for a moment is not idle");
    assert_eq!(timers(&desk).last(), Some(&SOON));
    desk.steps.clear();
    // The timer of a host may ring early: then it is set again.
    tick(&mut desk, Timestamp(SOON.0 - 1));
    assert_eq!(scripts.heard("root"), []);
    assert_eq!(timers(&desk), [SOON]);
    tick(&mut desk, SOON);
    assert_eq!(scripts.heard("root"), [Heard::Tick(Some(AskId(0)))]);
    assert!(desk.is_over());
}

#[test]
fn c11_the_last_moment_asked_for_holds() {
    let later = SOON.plus(Millis(10_000));
    let scripts = Scripts::root(vec![
        vec![Ask::Wake(SOON), Ask::Wake(later), call(5, 5)],
        vec![call(5, 5)],
    ]);
    let mut desk = ManualHost::open(scripts.clone(), root(AMPLE));
    assert_eq!(timers(&desk).last(), Some(&later));
    tick(&mut desk, SOON);
    assert_eq!(scripts.heard("root"), []);
    tick(&mut desk, later);
    assert_eq!(scripts.heard("root"), [Heard::Tick(Some(AskId(1)))]);
    tick(&mut desk, later.plus(Millis(1)));
    assert_eq!(scripts.heard("root").len(), 1, "a moment comes once");
    let deadline = BEGIN.plus(TIME);
    assert_eq!(timers(&desk).last(), Some(&deadline));
}

#[test]
fn c11_a_moment_does_not_outlast_the_episodes_time() {
    let scripts = Scripts::root(vec![vec![Ask::Wake(BEGIN.plus(DAY))]]);
    let mut desk = ManualHost::open(scripts.clone(), root(AMPLE));
    assert_eq!(timers(&desk).last(), Some(&BEGIN.plus(TIME)));
    desk.ring(&EpisodeId::root());
    let dimension = Dimension::Time;
    assert_eq!(
        desk.result().stop_reason,
        StopReason::BudgetExhausted { dimension }
    );
    assert_eq!(scripts.heard("root"), []);
}

#[test]
fn c11_a_moment_that_has_passed_comes_a_little_later() {
    let scripts = Scripts::root(vec![vec![Ask::Wake(Timestamp(0))]]);
    let desk = ManualHost::open(scripts, root(AMPLE));
    assert_eq!(timers(&desk).last(), Some(&BEGIN.plus(Millis(10))));
}

#[test]
fn c11_a_new_owner_waits_for_the_same_moment() {
    for crash in [true, false] {
        let scripts = Scripts::root(vec![vec![Ask::Wake(SOON)]]);
        let mut desk = ManualHost::open(scripts.clone(), root(AMPLE));
        if crash {
            desk.crash(desk.log.entries.len());
        } else {
            desk.hand_over(ReleaseReason::Interrupted, DAY);
        }
        assert_eq!(timers(&desk), [SOON]);
        desk.ring(&EpisodeId::root());
        assert!(desk.is_over(), "{:?}", desk.steps);
        assert_eq!(desk.result().stop_reason, StopReason::Success);
    }
}

#[test]
fn c11_a_moment_is_forgotten_with_the_records_that_asked_for_it() {
    let scripts = Scripts::root(vec![vec![call(5, 5)], vec![Ask::Wake(SOON)]]);
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    let before = desk.log.entries.len();
    desk.reply_next("go");
    assert_eq!(timers(&desk).last(), Some(&SOON));
    desk.crash(before);
    assert_eq!(timers(&desk), [BEGIN.plus(TIME)]);
    desk.reply_next("go");
    desk.ring(&EpisodeId::root());
    assert!(desk.is_over());
}

#[test]
fn c11_a_moment_that_comes_after_the_end_changes_nothing() {
    let scripts = Scripts::root(vec![vec![Ask::Wake(SOON), call(5, 50)], vec![call(1, 1)]]);
    let mut desk = ManualHost::open(scripts.clone(), root(AMPLE));
    desk.signal(&fathom_core::journal::event::Signal::Cancel);
    let count = desk.log.entries.len();
    tick(&mut desk, SOON);
    assert_eq!(scripts.heard("root"), []);
    assert_eq!(desk.log.entries.len(), count + 1);
    let commands = &desk.log.entries[count].record.commands;
    let is_timer = |command: &Command| {
        matches!(
            command,
            Command::Await {
                awaited: ExternalWait::Until { .. }
            }
        )
    };
    assert!(commands.iter().all(is_timer), "{commands:?}");
}

#[test]
fn c11_messages_stand_in_the_record_in_order() {
    let scripts = Scripts::root(vec![
        vec![post("one"), call(5, 5), post("two")],
        vec![spawn("child"), post("three")],
    ])
    .with("child", vec![vec![post("below"), call(5, 5)]]);
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    desk.wait(Millis(700));
    desk.reply_next("go");
    desk.reply_next("done");
    assert!(desk.is_over());
    let (root, child) = (EpisodeId::root(), at(&[0]));
    let posted: Vec<&Envelope> = messages(desk.log.of(&root)).collect();
    let said: Vec<&str> = posted.iter().map(|e| e.content.as_str()).collect();
    assert_eq!(said, ["one", "two", "three"]);
    let stamps: Vec<(MessageId, Timestamp, &str)> = posted
        .iter()
        .map(|e| (e.msg_id, e.timestamp, e.sender.as_str()))
        .collect();
    let later = BEGIN.plus(Millis(700));
    assert_eq!(
        stamps,
        [
            (MessageId::of(&root, AskId(0)), BEGIN, "0"),
            (MessageId::of(&root, AskId(2)), BEGIN, "0"),
            (MessageId::of(&root, AskId(4)), later, "0"),
        ]
    );
    let below: Vec<&str> = messages(desk.log.of(&child))
        .map(|e| e.sender.as_str())
        .collect();
    assert_eq!(below, ["0.0"]);
}

#[test]
fn c11_a_message_is_not_posted_again_by_a_new_owner() {
    let scripts = Scripts::root(vec![vec![post("once"), call(5, 5)]]);
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    desk.crash(desk.log.entries.len());
    desk.crash(desk.log.entries.len());
    desk.reply_next("done");
    let posted = messages(desk.log.of(&EpisodeId::root())).count();
    assert_eq!(posted, 1);
}

#[test]
fn c11_a_program_that_only_posts_is_idle() {
    let scripts = Scripts::root(vec![vec![post("hello?")]]);
    let desk = ManualHost::open(scripts, root(AMPLE));
    let class = ErrorClass::Idle;
    assert_eq!(desk.result().stop_reason, StopReason::Failure { class });
}
