//! The kill switch: how far it reaches, when it is looked at, and that it outlives its owner.

use fathom_core::contract::stop::{Refusal, StopReason};
use fathom_core::effect::{EffectOutcome, EffectTarget, KillScope, PolicyDecision};
use fathom_core::episode::result::EpisodeStatus;
use fathom_core::id::{AskId, EpisodeId};
use fathom_core::journal::event::{EventKind, Signal};
use fathom_core::model::failure::{FailureKind, ModelFailure};
use fathom_core::run::step::HostStep;

use fathom_testkit::manual_host::host::{Disk, ManualHost, at};
use fathom_testkit::manual_host::samples::{
    AMPLE, BINDING, call, effect, root, spawn, target, terms,
};
use fathom_testkit::manual_host::scripted_program::{Heard, Scripts};

fn kill(scope: KillScope) -> Signal {
    Signal::Kill { scope }
}

fn lift(scope: KillScope) -> Signal {
    Signal::Lift { scope }
}

fn forum() -> KillScope {
    KillScope::Platform("forum".into())
}

fn stopped_by(scope: KillScope) -> StopReason {
    StopReason::KillSwitch { scope }
}

fn attempts(desk: &ManualHost) -> usize {
    let steps = desk.steps.iter();
    steps
        .filter(|step| matches!(step, HostStep::Attempt(_)))
        .count()
}

/// Every kind of scope, named after a part of `target`.
fn scopes_of(target: &EffectTarget) -> [KillScope; 5] {
    [
        KillScope::Global,
        KillScope::Tenant(target.tenant.clone()),
        KillScope::Platform(target.platform.clone()),
        KillScope::Account(target.account.clone()),
        KillScope::Action(target.action.clone()),
    ]
}

#[test]
fn e16_each_scope_covers_what_it_names_and_nothing_else() {
    let other = EffectTarget {
        tenant: "x".into(),
        platform: "x".into(),
        account: "x".into(),
        action: "x".into(),
    };
    for scope in scopes_of(&target()) {
        assert!(scope.covers(&target()), "{scope}");
        assert_eq!(scope.covers(&other), scope == KillScope::Global, "{scope}");
    }
    // A name of one kind is no name of another.
    let swapped = EffectTarget {
        tenant: "forum".into(),
        platform: "acme".into(),
        account: "reply".into(),
        action: "acme-news".into(),
    };
    for scope in &scopes_of(&target())[1..] {
        assert!(!scope.covers(&swapped), "{scope}");
    }
}

#[test]
fn e16_first_look_before_the_gateway_is_asked() {
    for scope in &scopes_of(&target())[1..] {
        let scripts = Scripts::root(vec![vec![call(5, 5)], vec![effect("event-1")]]);
        let heard = scripts.clone();
        let mut desk = ManualHost::open(scripts, root(AMPLE));
        desk.signal(&kill(scope.clone()));
        desk.reply_next("go");
        let scope = scope.clone();
        assert_eq!(heard.refusals("root"), [Refusal::Killed { scope }]);
        assert!(
            !desk
                .steps
                .iter()
                .any(|step| matches!(step, HostStep::Decide { .. }))
        );
    }
}

#[test]
fn e16_second_look_right_before_the_call() {
    let scripts = Scripts::root(vec![vec![effect("event-1")], vec![call(5, 5)]]);
    let heard = scripts.clone();
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    desk.signal(&kill(forum()));
    assert!(!desk.is_over(), "the gateway still looks at it");
    desk.allow();
    assert_eq!(attempts(&desk), 0);
    let result = desk.result();
    assert_eq!(result.stop_reason, stopped_by(forum()));
    assert_eq!(result.status, EpisodeStatus::Failed);
    assert_eq!(result.budget.spent.tools, 0);
    let told = heard.heard("root");
    assert!(
        !told.iter().any(|heard| matches!(heard, Heard::Effect(..))),
        "nothing follows: {told:?}"
    );
}

#[test]
fn e16_second_look_holds_for_a_persons_word_too() {
    let mut desk = ManualHost::open(Scripts::root(vec![vec![effect("event-1")]]), root(AMPLE));
    desk.decide(PolicyDecision::NeedsApproval {
        rule: "look first".into(),
        terms: Box::new(terms()),
    });
    desk.signal(&kill(forum()));
    desk.signal(&Signal::Decide {
        episode: EpisodeId::root(),
        ask: AskId(0),
        allow: true,
        by: "ada".into(),
        binding: BINDING,
    });
    assert_eq!(attempts(&desk), 0);
    assert_eq!(desk.result().stop_reason, stopped_by(forum()));
}

#[test]
fn e16_an_effect_that_waits_for_the_disk_is_withheld() {
    for scope in scopes_of(&target()) {
        let mut desk = ManualHost::open(Scripts::root(vec![vec![effect("event-1")]]), root(AMPLE));
        desk.disk = Disk::Slow;
        desk.allow();
        desk.signal(&kill(scope.clone()));
        desk.flush_all();
        assert_eq!(attempts(&desk), 0, "{scope} came before the disk");
        assert_eq!(desk.result().stop_reason, stopped_by(scope));
    }
}

#[test]
fn e16_an_effect_elsewhere_that_waits_for_the_disk_goes_out() {
    let mut desk = ManualHost::open(Scripts::root(vec![vec![effect("event-1")]]), root(AMPLE));
    desk.disk = Disk::Slow;
    desk.allow();
    desk.signal(&kill(KillScope::Platform("elsewhere".into())));
    desk.flush_all();
    assert_eq!(attempts(&desk), 1);
}

#[test]
fn e16_third_look_before_anything_follows() {
    for outcome in [
        EffectOutcome::Confirmed {
            receipt: "1".into(),
        },
        EffectOutcome::Failed {
            detail: "no".into(),
        },
    ] {
        let scripts = Scripts::root(vec![vec![effect("event-1")], vec![call(5, 5)]]);
        let heard = scripts.clone();
        let mut desk = ManualHost::open(scripts, root(AMPLE));
        desk.allow();
        let place = desk.attempt();
        desk.signal(&kill(forum()));
        desk.settle(&place, outcome);
        let result = desk.result();
        assert_eq!(result.stop_reason, stopped_by(forum()));
        assert_eq!(result.budget.spent.tools, 1, "it was sent");
        assert_eq!(heard.heard("root"), [Heard::Signal(kill(forum()))]);
        assert_eq!(desk.calls_out(), 0);
    }
}

#[test]
fn e16_the_switch_reaches_children_and_calls_in_flight() {
    let scripts = Scripts::root(vec![vec![spawn("child"), call(5, 5)]])
        .with("child", vec![vec![spawn("leaf"), call(5, 5)]])
        .with("leaf", vec![vec![call(5, 5)]]);
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    assert_eq!(desk.calls_out(), 3);
    desk.signal(&kill(KillScope::Global));
    assert_eq!(desk.cancelled().len(), 3);
    for _ in 0..3 {
        let sent = desk.sent();
        desk.fail(&sent, ModelFailure::sent(FailureKind::Cancelled, ""));
    }
    assert_eq!(desk.result().stop_reason, stopped_by(KillScope::Global));
    for episode in [at(&[0]), at(&[0, 0])] {
        let result = desk.log.of(&episode).find_map(|record| record.result());
        let stop = result.map(|result| result.stop_reason.clone());
        assert_eq!(stop, Some(stopped_by(KillScope::Global)), "{episode}");
    }
}

#[test]
fn e16_children_begun_after_a_scoped_kill_know_of_it() {
    let scripts = Scripts::root(vec![vec![call(5, 5)], vec![spawn("child")]])
        .with("child", vec![vec![call(5, 5)], vec![effect("event-1")]]);
    let heard = scripts.clone();
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    desk.signal(&kill(forum()));
    desk.reply_next("go");
    assert!(
        desk.log
            .events(&at(&[0]))
            .contains(&EventKind::Signal(kill(forum())))
    );
    desk.reply_next("post it");
    let scope = forum();
    assert_eq!(heard.refusals("child"), [Refusal::Killed { scope }]);
}

#[test]
fn e16_a_switch_thrown_before_the_run_holds_for_it() {
    let mut desk = ManualHost::new(Scripts::root(vec![vec![call(5, 5)]]));
    desk.signal(&kill(KillScope::Global));
    desk.start(root(AMPLE));
    assert_eq!(desk.result().stop_reason, stopped_by(KillScope::Global));
    assert_eq!(desk.calls_out(), 0);
}

#[test]
fn e16_no_child_is_spawned_under_a_global_kill() {
    // The reply that would have led to the child comes too late.
    let scripts = Scripts::root(vec![vec![call(5, 5)], vec![spawn("child")]]).with("child", vec![]);
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    desk.signal(&kill(KillScope::Global));
    let sent = desk.sent();
    desk.reply(&sent, "late");
    assert_eq!(desk.run.episodes(), 1);
    assert_eq!(desk.result().stop_reason, stopped_by(KillScope::Global));
}

#[test]
fn e16_a_lifted_switch_holds_no_more() {
    let scripts = Scripts::root(vec![vec![call(5, 5)], vec![effect("event-1")]]);
    let heard = scripts.clone();
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    desk.signal(&kill(forum()));
    desk.signal(&kill(forum()));
    desk.signal(&lift(forum()));
    desk.reply_next("go");
    assert_eq!(heard.refusals("root"), []);
    desk.allow();
    assert_eq!(attempts(&desk), 1);
}

#[test]
fn e16_lifting_one_scope_leaves_the_others() {
    let scripts = Scripts::root(vec![vec![call(5, 5)], vec![effect("event-1")]]);
    let heard = scripts.clone();
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    let tenant = KillScope::Tenant("acme".into());
    desk.signal(&kill(tenant.clone()));
    desk.signal(&kill(forum()));
    desk.signal(&lift(forum()));
    desk.reply_next("go");
    let scope = tenant;
    assert_eq!(heard.refusals("root"), [Refusal::Killed { scope }]);
}

#[test]
fn e16_the_switch_survives_a_restart() {
    let scripts = Scripts::root(vec![vec![call(5, 5)], vec![effect("event-1")]]);
    let heard = scripts.clone();
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    desk.signal(&kill(forum()));
    desk.crash(desk.log.entries.len());
    desk.reply_next("go");
    let scope = forum();
    assert_eq!(heard.refusals("root"), [Refusal::Killed { scope }]);
}

/// A run with a live child, whose log is cut right after the root was told something and before the child was.
fn cut_between(told: &[Signal]) -> (ManualHost, Scripts) {
    let scripts = Scripts::root(vec![vec![spawn("child")]])
        .with("child", vec![vec![call(5, 5)], vec![effect("event-1")]]);
    let heard = scripts.clone();
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    for signal in told {
        desk.signal(signal);
    }
    let last = EventKind::Signal(told.last().unwrap().clone());
    let entry = desk
        .log
        .entries
        .iter()
        .position(|entry| entry.episode.is_root() && entry.record.event.kind == last)
        .unwrap();
    assert_eq!(desk.log.entries[entry + 1].episode, at(&[0]));
    desk.crash(entry + 1);
    (desk, heard)
}

#[test]
fn e16_a_crash_between_two_episodes_does_not_save_one_from_the_switch() {
    let (mut desk, heard) = cut_between(&[kill(forum())]);
    desk.reply_next("post it");
    let scope = forum();
    assert_eq!(heard.refusals("child"), [Refusal::Killed { scope }]);
}

#[test]
fn e16_a_crash_between_two_episodes_does_not_keep_one_killed() {
    let (mut desk, heard) = cut_between(&[kill(forum()), lift(forum())]);
    desk.reply_next("post it");
    assert_eq!(heard.refusals("child"), []);
    desk.allow();
    assert_eq!(attempts(&desk), 1);
}

#[test]
fn e16_a_lifted_switch_stays_lifted_however_the_chains_are_read() {
    let scripts = Scripts::root(vec![vec![spawn("child")], vec![call(5, 5)]])
        .with("child", vec![vec![call(5, 5)]]);
    let heard = scripts.clone();
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    desk.signal(&kill(forum()));
    desk.reply_next("done");
    assert!(!desk.is_over());
    // The child is over and never hears that the switch was lifted.
    desk.signal(&lift(forum()));
    let before = heard.heard("root");
    // A fork reads the chain of an ended child after those of its ancestors.
    desk.log.entries.sort_by_key(|entry| entry.episode.depth());
    desk.take_over();
    let told = heard.heard("root");
    assert_eq!(
        told[before.len()..],
        before,
        "the fold, and nothing after it"
    );
}

#[test]
fn e16_scopes_read_as_people_write_them() {
    let written: Vec<String> = scopes_of(&target())
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        written,
        [
            "global",
            "tenant:acme",
            "platform:forum",
            "account:acme-news",
            "action:reply"
        ]
    );
}
