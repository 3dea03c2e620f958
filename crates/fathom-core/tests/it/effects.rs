//! How an effect moves from being wanted to being settled, and what a lost answer means.

use fathom_core::contract::stop::{ErrorClass, Refusal, StopReason};
use fathom_core::effect::{
    EffectClass, EffectOutcome, EffectRequest, EffectState, EffectTarget, EffectTransition,
    IllegalTransition, PolicyDecision,
};
use fathom_core::episode::program::Ask;
use fathom_core::episode::result::{HandoffTicket, NextAction};
use fathom_core::id::{AskId, EpisodeId};
use fathom_core::journal::command::{Command, OutputBlock};
use fathom_core::journal::event::{EventKind, Signal};
use fathom_core::run::step::{HostStep, LogPosition};
use fathom_core::text::Text;
use proptest::prelude::*;
use proptest::test_runner::Config;

use fathom_testkit::manual_host::host::{Disk, ManualHost, Place};
use fathom_testkit::manual_host::samples::{AMPLE, call, effect, effect_request, root};
use fathom_testkit::manual_host::scripted_program::{Heard, Scripts};

const STATES: [EffectState; 9] = [
    EffectState::Queued,
    EffectState::Preflight,
    EffectState::AwaitingApproval,
    EffectState::Approved,
    EffectState::Attempted,
    EffectState::Confirmed,
    EffectState::Failed,
    EffectState::Unknown,
    EffectState::Postcheck,
];

const STEPS: [EffectTransition; 9] = [
    EffectTransition::Admit,
    EffectTransition::Defer,
    EffectTransition::Allow,
    EffectTransition::Deny,
    EffectTransition::Attempt,
    EffectTransition::Confirm,
    EffectTransition::Fail,
    EffectTransition::Lose,
    EffectTransition::Check,
];

/// Every step that a state allows. What is not here is illegal.
const LEGAL: [(EffectState, EffectTransition, EffectState); 16] = {
    use EffectState as S;
    use EffectTransition as T;
    [
        (S::Queued, T::Admit, S::Preflight),
        (S::Queued, T::Deny, S::Failed),
        (S::Preflight, T::Defer, S::AwaitingApproval),
        (S::Preflight, T::Allow, S::Approved),
        (S::Preflight, T::Deny, S::Failed),
        (S::AwaitingApproval, T::Allow, S::Approved),
        (S::AwaitingApproval, T::Deny, S::Failed),
        (S::Approved, T::Attempt, S::Attempted),
        (S::Approved, T::Deny, S::Failed),
        (S::Attempted, T::Confirm, S::Confirmed),
        (S::Attempted, T::Fail, S::Failed),
        (S::Attempted, T::Lose, S::Unknown),
        (S::Unknown, T::Check, S::Postcheck),
        (S::Postcheck, T::Confirm, S::Confirmed),
        (S::Postcheck, T::Fail, S::Failed),
        (S::Postcheck, T::Lose, S::Unknown),
    ]
};

#[test]
fn e13_an_effect_takes_only_the_steps_of_its_state() {
    for state in STATES {
        for step in STEPS {
            let legal = LEGAL
                .iter()
                .find(|(from, by, _)| (*from, *by) == (state, step));
            let expected = match legal {
                Some((_, _, to)) => Ok(*to),
                None => Err(IllegalTransition { state, step }),
            };
            assert_eq!(state.after(step), expected, "{state:?} by {step:?}");
        }
    }
}

#[test]
fn e13_nothing_but_an_attempt_follows_approval_and_nothing_proceeds_from_unknown() {
    for step in STEPS {
        if step != EffectTransition::Check {
            assert!(EffectState::Unknown.after(step).is_err());
        }
    }
    for settled in STATES.into_iter().filter(|state| state.is_settled()) {
        assert!(STEPS.iter().all(|step| settled.after(*step).is_err()));
    }
}

fn confirmed() -> EffectOutcome {
    EffectOutcome::Confirmed {
        receipt: "post 1".into(),
    }
}

fn failed() -> EffectOutcome {
    EffectOutcome::Failed {
        detail: "no".into(),
    }
}

fn unknown() -> EffectOutcome {
    EffectOutcome::Unknown {
        detail: "the line went dead".into(),
    }
}

fn one_effect() -> (ManualHost, Scripts) {
    let scripts = Scripts::root(vec![vec![effect("event-1")]]);
    let heard = scripts.clone();
    (ManualHost::open(scripts, root(AMPLE)), heard)
}

/// An effect whose intent is durable and that was handed to the host.
fn attempted() -> (ManualHost, Scripts, Place) {
    let (mut desk, heard) = one_effect();
    desk.allow();
    let place = desk.attempt();
    (desk, heard, place)
}

fn count(desk: &ManualHost, wanted: fn(&HostStep) -> bool) -> usize {
    desk.steps.iter().filter(|step| wanted(step)).count()
}

fn is_attempt(step: &HostStep) -> bool {
    matches!(step, HostStep::Attempt(_))
}

fn is_reconcile(step: &HostStep) -> bool {
    matches!(step, HostStep::Reconcile { .. })
}

#[test]
fn e13_no_effect_without_a_decision() {
    let (mut desk, _) = one_effect();
    assert_eq!(count(&desk, is_attempt), 0);
    desk.deliver(
        &EpisodeId::root(),
        EventKind::settled(AskId(0), confirmed()),
    );
    assert!(!desk.is_over(), "what was never attempted is not settled");
    desk.allow();
    assert_eq!(count(&desk, is_attempt), 1);
}

#[test]
fn e13_decision_and_intent_share_a_record_and_wait_for_the_disk() {
    let (mut desk, _) = one_effect();
    desk.disk = Disk::Slow;
    desk.allow();
    let record = desk.log.entries.last().unwrap();
    assert!(matches!(
        record.record.event.kind,
        EventKind::EffectDecided { .. }
    ));
    assert_eq!(
        record.record.commands,
        [Command::Attempt {
            ask: AskId(0),
            effect: effect_request("event-1")
        }]
    );
    assert_eq!(count(&desk, is_attempt), 0);
    let end = desk.log.end();
    desk.flush(LogPosition(end.0 - 1));
    assert_eq!(count(&desk, is_attempt), 0, "all but the last record");
    desk.flush(end);
    assert_eq!(count(&desk, is_attempt), 1);
}

#[test]
fn e13_a_decision_counts_once() {
    let (mut desk, _, place) = attempted();
    let decision = PolicyDecision::Allow { rules: Vec::new() };
    desk.deliver(&place.episode, EventKind::decided(place.ask, decision));
    assert_eq!(count(&desk, is_attempt), 0, "it was sent already");
    desk.settle(&place, confirmed());
    assert_eq!(desk.result().budget.spent.tools, 1);
}

#[test]
fn e13_a_confirmed_effect_reaches_the_program() {
    let (mut desk, heard, place) = attempted();
    desk.settle(&place, confirmed());
    assert_eq!(heard.heard("root"), [Heard::Effect(AskId(0), confirmed())]);
    assert_eq!(desk.result().budget.spent.tools, 1);
    assert!(
        desk.result().verification_needed,
        "nobody has looked at it yet"
    );
}

#[test]
fn e13_a_failed_effect_reaches_the_program() {
    let (mut desk, heard, place) = attempted();
    desk.settle(&place, failed());
    assert_eq!(heard.heard("root"), [Heard::Effect(AskId(0), failed())]);
    assert_eq!(desk.result().budget.spent.tools, 1);
}

#[test]
fn e13_unknown_is_reconciled_and_nothing_follows_before() {
    let (mut desk, heard, place) = attempted();
    desk.settle(&place, unknown());
    assert!(heard.heard("root").is_empty(), "unknown never proceeds");
    let asked = desk.reconcile();
    assert_eq!(asked.effect, place.effect);
    desk.settle(&asked, confirmed());
    assert_eq!(heard.heard("root"), [Heard::Effect(AskId(0), confirmed())]);
    assert_eq!(count(&desk, is_attempt), 0, "it is never sent again");
    assert!(desk.result().next_actions.is_empty());
}

#[test]
fn e13_what_not_even_the_platform_knows_goes_to_a_person() {
    let (mut desk, heard, place) = attempted();
    desk.settle(&place, unknown());
    let asked = desk.reconcile();
    desk.settle(&asked, unknown());
    assert_eq!(heard.heard("root"), [Heard::Effect(AskId(0), unknown())]);
    let result = desk.result();
    assert_eq!(
        result.next_actions,
        [NextAction::Handoff(HandoffTicket {
            tried: "reply on forum as acme-news for event-1".into(),
            known: "the line went dead".into(),
            asked: "find out whether it happened; it was not sent again".into(),
            deadline: None,
        })]
    );
    assert!(result.verification_needed);
    assert_eq!(count(&desk, is_attempt) + count(&desk, is_reconcile), 0);
}

#[test]
fn e13_three_effects_that_fail_in_a_row_end_the_episode() {
    let rounds = (0..4)
        .map(|n| vec![effect(&format!("event-{n}"))])
        .collect();
    let mut desk = ManualHost::open(Scripts::root(rounds), root(AMPLE));
    for _ in 0..3 {
        desk.allow();
        let place = desk.attempt();
        desk.settle(&place, failed());
    }
    let class = ErrorClass::Effect;
    assert_eq!(
        desk.result().stop_reason,
        StopReason::RepeatedFailure { class, count: 3 }
    );
}

#[test]
fn e13_a_host_without_a_gateway_may_refuse() {
    let (mut desk, heard) = one_effect();
    let reason = Refusal::Unavailable {
        what: "gateway".into(),
    };
    let kind = EventKind::Refused {
        ask: AskId(0),
        reason: reason.clone(),
    };
    desk.deliver(&EpisodeId::root(), kind);
    assert_eq!(heard.refusals("root"), [reason]);
    assert_eq!(desk.result().budget.spent.tools, 0);
}

#[test]
fn x04_a_crash_after_the_intent_is_unknown_and_is_reconciled_once() {
    let (mut desk, heard, _) = attempted();
    desk.crash(desk.log.entries.len());
    assert_eq!(count(&desk, is_attempt), 0, "it may have happened");
    assert_eq!(count(&desk, is_reconcile), 1);
    let asked = desk.reconcile();
    desk.settle(&asked, failed());
    assert_eq!(heard.heard("root"), [Heard::Effect(AskId(0), failed())]);
    assert_eq!(desk.result().budget.spent.tools, 1);
}

#[test]
fn x04_a_crash_before_the_intent_asks_the_gateway_again() {
    let (mut desk, _) = one_effect();
    desk.disk = Disk::Slow;
    let before = desk.log.entries.len();
    desk.allow();
    desk.disk = Disk::Quick;
    desk.crash(before);
    assert_eq!(count(&desk, is_reconcile), 0, "nothing can have been sent");
    desk.allow();
    let place = desk.attempt();
    desk.settle(&place, confirmed());
    assert_eq!(desk.result().budget.spent.tools, 1);
}

#[test]
fn x04_a_crash_while_the_platform_is_asked_asks_it_again() {
    let (mut desk, _, place) = attempted();
    desk.settle(&place, unknown());
    for _ in 0..3 {
        desk.crash(desk.log.entries.len());
        assert_eq!(count(&desk, is_reconcile), 1);
    }
    let asked = desk.reconcile();
    desk.settle(&asked, confirmed());
    assert_eq!(desk.result().stop_reason, StopReason::Success);
}

#[test]
fn e13_an_episode_that_stops_still_settles_what_is_out() {
    for (outcomes, spent) in [(vec![confirmed()], 1), (vec![unknown(), failed()], 1)] {
        let (mut desk, _, place) = attempted();
        desk.signal(&Signal::Cancel);
        assert!(!desk.is_over(), "an effect is out");
        let mut outcomes = outcomes.into_iter();
        desk.settle(&place, outcomes.next().unwrap());
        for outcome in outcomes {
            assert!(!desk.is_over());
            let asked = desk.reconcile();
            desk.settle(&asked, outcome);
        }
        let result = desk.result();
        assert_eq!(result.stop_reason, StopReason::Cancelled);
        assert_eq!(result.budget.spent.tools, spent);
        assert!(result.verification_needed);
    }
}

#[test]
fn e13_an_effect_still_with_the_gateway_is_dropped_when_the_episode_stops() {
    let (mut desk, _) = one_effect();
    desk.signal(&Signal::Cancel);
    let result = desk.result();
    assert_eq!(result.budget.spent.tools, 0);
    assert!(!result.verification_needed);
    desk.allow();
    assert_eq!(count(&desk, is_attempt), 0);
}

#[test]
fn x03_output_and_the_final_answer_wait_for_the_disk() {
    let block = OutputBlock {
        channel: "cli".into(),
        text: "thinking".into(),
    };
    let scripts = Scripts::root(vec![vec![Ask::Emit(block.clone()), call(5, 5)]]);
    let mut desk = ManualHost::new(scripts);
    desk.disk = Disk::Slow;
    desk.start(root(AMPLE));
    let emitted = HostStep::Emit {
        episode: EpisodeId::root(),
        block,
    };
    assert!(!desk.steps.contains(&emitted));
    desk.flush_all();
    assert!(desk.steps.contains(&emitted));
    desk.reply_next("done");
    assert!(desk.is_over());
    assert_eq!(
        count(&desk, |step| matches!(step, HostStep::Finished(_))),
        0,
        "its record is not durable"
    );
    desk.flush_all();
    assert_eq!(desk.result().stop_reason, StopReason::Success);
}

fn config() -> Config {
    Config {
        failure_persistence: None,
        ..Config::default()
    }
}

/// A request whose parts are `letters`, cut at four places.
fn divided(letters: &str, mut cuts: [usize; 4]) -> EffectRequest {
    cuts.sort_unstable();
    let [first, second, third, fourth] = cuts.map(|cut| cut.min(letters.len()));
    EffectRequest {
        target: EffectTarget {
            tenant: letters[..first].into(),
            platform: letters[first..second].into(),
            account: letters[second..third].into(),
            action: letters[third..fourth].into(),
        },
        event: letters[fourth..].into(),
        ..effect_request("")
    }
}

fn part() -> impl Strategy<Value = String> {
    any::<String>()
}

fn request() -> impl Strategy<Value = EffectRequest> {
    (part(), part(), part(), part(), part(), any::<String>()).prop_map(
        |(tenant, platform, account, action, event, arguments)| EffectRequest {
            tool: "post".into(),
            target: EffectTarget {
                tenant,
                platform,
                account,
                action,
            },
            event,
            arguments: Text::new(arguments),
            class: EffectClass::Effect,
            taint: Vec::new(),
        },
    )
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn e14_a_key_ignores_the_payload_and_the_tool(one in request(), words in any::<String>()) {
        let reworded = EffectRequest {
            arguments: Text::new(words),
            tool: "another".into(),
            ..one.clone()
        };
        prop_assert_eq!(one.key(), reworded.key());
    }

    #[test]
    fn e14_two_effects_share_a_key_only_if_all_its_parts_are_the_same(
        letters in "[a1:]{0,6}",
        cuts in [0_usize..7, 0_usize..7, 0_usize..7, 0_usize..7],
        other_cuts in [0_usize..7, 0_usize..7, 0_usize..7, 0_usize..7],
    ) {
        // The same letters, divided among the parts in two ways.
        let (one, other) = (divided(&letters, cuts), divided(&letters, other_cuts));
        let same = one.target == other.target && one.event == other.event;
        prop_assert_eq!(one.key() == other.key(), same);
    }
}

#[test]
fn e14_a_part_cannot_pass_for_two() {
    let with = |tenant: &str, platform: &str| {
        let mut request = effect_request("e");
        request.target.tenant = tenant.into();
        request.target.platform = platform.into();
        request.key()
    };
    assert_ne!(with("a", "b"), with("ab", ""));
    assert_ne!(with("a1:b", ""), with("a", "b"));
    assert_eq!(with("a", "b"), with("a", "b"));
    assert!(with("a", "b").as_str().starts_with("1:a1:b"));
}
