//! The time an episode is worked on: what counts, what does not, and when it is up.

use fathom_core::budget::amounts::Dimension;
use fathom_core::contract::stop::StopReason;
use fathom_core::id::EpisodeId;
use fathom_core::journal::event::{EventKind, ReleaseReason};
use fathom_core::model::failure::{FailureKind, ModelFailure};
use fathom_core::run::step::HostStep;
use fathom_core::text::Text;
use fathom_core::unit::{Millis, Timestamp};

use fathom_testkit::manual_host::host::{ManualHost, at};
use fathom_testkit::manual_host::samples::{AMPLE, TIME, call, rate_limited, root, spawn};
use fathom_testkit::manual_host::scripted_program::Scripts;

const DAY: Millis = Millis(86_400_000);

fn time_is_up() -> StopReason {
    let dimension = Dimension::Time;
    StopReason::BudgetExhausted { dimension }
}

fn two_calls() -> ManualHost {
    let scripts = Scripts::root(vec![vec![call(5, 5)], vec![call(5, 5)]]);
    ManualHost::open(scripts, root(AMPLE))
}

fn timers(desk: &ManualHost, episode: &EpisodeId) -> Vec<Timestamp> {
    let steps = desk.steps.iter();
    steps
        .filter_map(|step| match step {
            HostStep::Timer { episode: e, at } if e == episode => Some(*at),
            _ => None,
        })
        .collect()
}

#[test]
fn e06_the_time_between_a_crash_and_a_new_owner_does_not_count() {
    let mut desk = two_calls();
    let root = EpisodeId::root();
    desk.wait(Millis(1_000));
    desk.reply_next("four");
    desk.wait(DAY);
    desk.crash(desk.log.entries.len());
    assert_eq!(desk.episode(&root).budget().time_spent, Millis(1_000));
    let left = Millis(TIME.0 - 1_000);
    assert_eq!(timers(&desk, &root), [desk.now.plus(left)]);
    desk.wait(Millis(500));
    desk.reply_next("five!");
    assert_eq!(desk.result().budget.time_spent, Millis(1_500));
}

#[test]
fn e06_time_without_an_owner_does_not_count_but_time_up_to_the_release_does() {
    let mut desk = two_calls();
    let root = EpisodeId::root();
    desk.wait(Millis(2_000));
    desk.hand_over(ReleaseReason::Interrupted, DAY);
    assert_eq!(desk.episode(&root).budget().time_spent, Millis(2_000));
}

#[test]
fn e06_many_owners_do_not_add_up_to_more_time() {
    let mut desk = two_calls();
    let root = EpisodeId::root();
    for _ in 0..10 {
        desk.wait(Millis(100));
        desk.deliver(&root, EventKind::Tick);
        desk.hand_over(ReleaseReason::Interrupted, DAY);
        desk.crash(desk.log.entries.len());
    }
    assert_eq!(desk.episode(&root).budget().time_spent, Millis(1_000));
}

#[test]
fn e06_the_deadline_holds_across_owners() {
    let mut desk = two_calls();
    desk.wait(Millis(TIME.0 - 10));
    desk.hand_over(ReleaseReason::Interrupted, DAY);
    let sent = desk.sent();
    desk.wait(Millis(10));
    desk.deliver(&EpisodeId::root(), EventKind::Tick);
    desk.fail(&sent, ModelFailure::sent(FailureKind::Cancelled, ""));
    assert_eq!(desk.result().stop_reason, time_is_up());
}

#[test]
fn e06_any_event_after_the_deadline_ends_the_episode() {
    let mut desk = two_calls();
    desk.wait(TIME);
    desk.reply_next("just too late");
    // The reply is taken in, and the call that followed from it never goes out.
    assert_eq!(desk.calls_out(), 0);
    let result = desk.result();
    assert_eq!(result.stop_reason, time_is_up());
    let answer = result.answer.as_ref().map(Text::as_str);
    assert_eq!(answer, Some("just too late"));
}

#[test]
fn e06_the_pause_before_a_retry_counts() {
    let mut desk = two_calls();
    let sent = desk.sent();
    desk.fail(&sent, rate_limited(Millis(30_000)));
    desk.wait(Millis(30_000));
    desk.reply_next("four");
    let time = desk.episode(&EpisodeId::root()).budget().time_spent;
    assert_eq!(time, Millis(30_000));
}

#[test]
fn e06_a_clock_that_goes_back_takes_no_time_away() {
    let mut desk = two_calls();
    let root = EpisodeId::root();
    desk.wait(Millis(5_000));
    desk.deliver(&root, EventKind::Tick);
    desk.now = Timestamp(desk.now.0 - 4_000);
    desk.deliver(&root, EventKind::Tick);
    assert_eq!(desk.episode(&root).budget().time_spent, Millis(5_000));
    desk.wait(Millis(100));
    desk.reply_next("four");
    assert_eq!(desk.episode(&root).budget().time_spent, Millis(5_100));
}

#[test]
fn e06_a_childs_time_ends_with_its_parents() {
    let scripts = Scripts::root(vec![vec![call(5, 5)], vec![spawn("child")]])
        .with("child", vec![vec![call(5, 50)]]);
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    desk.wait(Millis(100_000));
    desk.reply_next("go");
    let (root, child) = (EpisodeId::root(), at(&[0]));
    let deadline = timers(&desk, &root)[0];
    assert_eq!(timers(&desk, &child), [deadline]);
    let sent = desk.sent();
    desk.delta(&sent, "hal");
    desk.ring(&root);
    desk.fail(&sent, ModelFailure::sent(FailureKind::Cancelled, ""));
    assert_eq!(desk.result().stop_reason, time_is_up());
    let result = desk.log.of(&child).find_map(|record| record.result());
    assert_eq!(
        result.map(|result| &result.stop_reason),
        Some(&StopReason::Cancelled)
    );
}
