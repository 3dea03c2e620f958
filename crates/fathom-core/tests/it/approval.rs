//! An effect that needs a person's word suspends its episode; nothing else does.

use fathom_core::budget::amounts::Amounts;
use fathom_core::contract::stop::StopReason;
use fathom_core::effect::{EffectOutcome, PolicyDecision};
use fathom_core::id::{AskId, EpisodeId};
use fathom_core::journal::command::{Command, ExternalWait};
use fathom_core::journal::event::{EventKind, ReleaseReason, Signal};
use fathom_core::run::step::{HostStep, RunWait};
use fathom_core::unit::Millis;

use fathom_testkit::manual_host::host::{ManualHost, at};
use fathom_testkit::manual_host::samples::{
    AMPLE, BINDING, TIME, call, effect, root, spawn, terms,
};
use fathom_testkit::manual_host::scripted_program::{Heard, Scripts};

fn needs_approval() -> PolicyDecision {
    PolicyDecision::NeedsApproval {
        rule: "a person looks at posts".into(),
        terms: Box::new(terms()),
    }
}

fn decide(episode: &EpisodeId, ask: AskId, allow: bool) -> Signal {
    Signal::Decide {
        episode: episode.clone(),
        ask,
        allow,
        by: "ada".into(),
        binding: BINDING,
    }
}

fn confirmed() -> EffectOutcome {
    EffectOutcome::Confirmed {
        receipt: "post 1".into(),
    }
}

/// A root whose only effect waits for a person.
fn suspended() -> (ManualHost, Scripts) {
    let scripts = Scripts::root(vec![vec![effect("event-1")], vec![call(5, 5)]]);
    let heard = scripts.clone();
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    desk.wait(Millis(1_000));
    desk.decide(needs_approval());
    (desk, heard)
}

fn attempts(desk: &ManualHost) -> usize {
    let steps = desk.steps.iter();
    steps
        .filter(|step| matches!(step, HostStep::Attempt(_)))
        .count()
}

#[test]
fn e05_approval_suspends_and_the_same_episode_goes_on() {
    let (mut desk, heard) = suspended();
    let root = EpisodeId::root();
    assert_eq!(desk.waiting, Some(RunWait::Approval));
    assert!(desk.episode(&root).waits_for_person());
    assert_eq!(attempts(&desk), 0);
    desk.signal(&decide(&root, AskId(0), true));
    assert_eq!(desk.waiting, None);
    let place = desk.attempt();
    desk.settle(&place, confirmed());
    desk.reply_next("posted");
    assert_eq!(desk.result().stop_reason, StopReason::Success);
    assert_eq!(desk.run.episodes(), 1);
    assert!(
        heard
            .heard("root")
            .contains(&Heard::Effect(AskId(0), confirmed()))
    );
}

#[test]
fn e05_the_clock_stands_still_while_a_person_thinks() {
    let (mut desk, _) = suspended();
    let root = EpisodeId::root();
    desk.wait(Millis(TIME.0 * 10));
    desk.deliver(&root, EventKind::Tick);
    assert!(!desk.is_over(), "the time of a suspended episode is not up");
    assert_eq!(desk.episode(&root).budget().time_spent, Millis(1_000));
    desk.signal(&decide(&root, AskId(0), true));
    let place = desk.attempt();
    desk.wait(Millis(500));
    desk.settle(&place, confirmed());
    desk.reply_next("posted");
    assert_eq!(desk.result().budget.time_spent, Millis(1_500));
}

#[test]
fn e05_a_clock_that_goes_on_sets_its_timer_anew() {
    let (mut desk, _) = suspended();
    let root = EpisodeId::root();
    desk.wait(Millis(TIME.0 * 10));
    desk.steps.clear();
    desk.deliver(&root, EventKind::Tick);
    assert!(desk.steps.is_empty(), "no timer while it stands still");
    desk.signal(&decide(&root, AskId(0), true));
    let left = Millis(TIME.0 - 1_000);
    let timer = HostStep::Timer {
        episode: root,
        at: desk.now.plus(left),
    };
    assert!(desk.steps.contains(&timer), "{:?}", desk.steps);
}

#[test]
fn e05_a_person_may_say_no_and_the_program_goes_on() {
    let (mut desk, heard) = suspended();
    desk.signal(&decide(&EpisodeId::root(), AskId(0), false));
    assert_eq!(attempts(&desk), 0);
    let outcome = EffectOutcome::Failed {
        detail: "denied: ada said no".into(),
    };
    assert!(
        heard
            .heard("root")
            .contains(&Heard::Effect(AskId(0), outcome))
    );
    desk.reply_next("never mind");
    assert_eq!(desk.result().budget.spent.tools, 0);
}

#[test]
fn e05_waiting_lasts_over_owners() {
    let (mut desk, _) = suspended();
    let root = EpisodeId::root();
    for _ in 0..3 {
        desk.hand_over(ReleaseReason::AwaitingApproval, Millis(86_400_000));
        assert_eq!(desk.waiting, Some(RunWait::Approval), "it waits on");
        assert_eq!(attempts(&desk), 0);
        assert_eq!(desk.episode(&root).budget().time_spent, Millis(1_000));
    }
    desk.signal(&decide(&root, AskId(0), true));
    let place = desk.attempt();
    desk.settle(&place, confirmed());
    desk.reply_next("posted");
    let result = desk.result();
    assert_eq!(result.stop_reason, StopReason::Success);
    assert_eq!(result.budget.time_spent, Millis(1_000));
    assert_eq!(result.budget.spent.tools, 1);
}

#[test]
fn e05_a_new_owner_says_again_what_is_awaited() {
    let (mut desk, _) = suspended();
    let root = EpisodeId::root();
    desk.crash(desk.log.entries.len());
    let resumed = desk.log.of(&root).last().unwrap();
    let ask = AskId(0);
    assert!(resumed.commands.contains(&Command::Await {
        awaited: ExternalWait::Approval { ask },
    }));
}

#[test]
fn e05_asks_held_behind_an_approval_do_not_keep_the_run_awake() {
    // One tool: while the effect is in flight the episode is past its closing mark, so the call is held.
    let scripts = Scripts::root(vec![vec![effect("event-1"), call(5, 5)]]);
    let mut desk = ManualHost::open(scripts, root(Amounts { tools: 1, ..AMPLE }));
    desk.decide(needs_approval());
    let root = EpisodeId::root();
    assert_eq!(desk.calls_out(), 0, "the call is held");
    assert_eq!(desk.waiting, Some(RunWait::Approval));
    desk.wait(Millis(TIME.0 * 2));
    desk.signal(&decide(&root, AskId(0), true));
    assert!(!desk.is_over(), "the clock stood still");
    let place = desk.attempt();
    desk.settle(&place, confirmed());
    desk.reply_next("posted");
    assert_eq!(desk.result().stop_reason, StopReason::Success);
}

#[test]
fn e05_the_run_waits_only_when_all_of_it_waits() {
    let scripts = Scripts::root(vec![vec![spawn("poster"), spawn("thinker")]])
        .with("poster", vec![vec![effect("event-1")]])
        .with("thinker", vec![vec![call(5, 5)]]);
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    desk.decide(needs_approval());
    assert_eq!(desk.waiting, None, "a sibling still thinks");
    desk.reply_next("a thought");
    assert_eq!(desk.waiting, Some(RunWait::Approval));
    desk.signal(&decide(&at(&[0]), AskId(0), true));
    assert_eq!(desk.waiting, None);
    let place = desk.attempt();
    desk.settle(&place, confirmed());
    assert_eq!(desk.result().stop_reason, StopReason::Success);
}

#[test]
fn e13_a_person_cannot_send_what_the_gateway_has_not_seen() {
    let scripts = Scripts::root(vec![vec![effect("event-1")]]);
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    desk.signal(&decide(&EpisodeId::root(), AskId(0), true));
    assert_eq!(attempts(&desk), 0);
    desk.decide(PolicyDecision::Deny {
        rule: "no posts".into(),
    });
    assert_eq!(attempts(&desk), 0);
    assert_eq!(desk.result().budget.spent.tools, 0);
}

#[test]
fn e13_the_gateway_cannot_send_what_a_person_must_see() {
    let (mut desk, _) = suspended();
    let root = EpisodeId::root();
    let decision = PolicyDecision::Allow { rules: Vec::new() };
    desk.deliver(&root, EventKind::decided(AskId(0), decision));
    assert_eq!(attempts(&desk), 0);
    assert_eq!(desk.waiting, Some(RunWait::Approval));
}

#[test]
fn e05_a_decision_counts_once_and_for_its_own_effect_only() {
    let (mut desk, _) = suspended();
    let root = EpisodeId::root();
    desk.signal(&decide(&root, AskId(7), true));
    desk.signal(&decide(&at(&[0]), AskId(0), true));
    assert_eq!(attempts(&desk), 0);
    desk.signal(&decide(&root, AskId(0), true));
    desk.signal(&decide(&root, AskId(0), true));
    desk.signal(&decide(&root, AskId(0), false));
    assert_eq!(attempts(&desk), 1);
}

#[test]
fn e05_a_suspended_episode_can_be_cancelled() {
    let (mut desk, _) = suspended();
    desk.signal(&Signal::Cancel);
    let result = desk.result();
    assert_eq!(result.stop_reason, StopReason::Cancelled);
    assert_eq!(result.budget.spent.tools, 0, "nothing was sent");
    assert!(!result.verification_needed);
}
