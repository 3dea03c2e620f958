//! What a spawn must say: its class, a trigger that belongs to it, and a contract no wider than its parent's.

use fathom_core::budget::amounts::Amounts;
use fathom_core::contract::spawn::{SpawnClass, SpawnRequest, SpawnTrigger};
use fathom_core::contract::stop::{Refusal, StopReason};
use fathom_core::contract::{Contract, PermissionMode, RecursionPolicy};
use fathom_core::effect::EffectOutcome;
use fathom_core::episode::program::Ask;
use fathom_core::journal::event::{EpisodeOrigin, EventKind};

use crate::recursion::{ask_for, child, policy};
use fathom_testkit::manual_host::host::{ManualHost, at};
use fathom_testkit::manual_host::samples::{
    AMPLE, CLASSES, HELPER, call, contract, effect, root, spawn_request,
};
use fathom_testkit::manual_host::scripted_program::Scripts;

/// Every trigger with the letter of its class.
pub(crate) const TRIGGERS: [(SpawnTrigger, char); 15] = [
    (SpawnTrigger::MissingCapsule, 'A'),
    (SpawnTrigger::UnconfirmedCapability, 'A'),
    (SpawnTrigger::MissingTemplate, 'A'),
    (SpawnTrigger::RubricFailed, 'B'),
    (SpawnTrigger::HighStakesAction, 'B'),
    (SpawnTrigger::RetryableToolFailure, 'C'),
    (SpawnTrigger::BrowserDrift, 'C'),
    (SpawnTrigger::InvalidPayload, 'C'),
    (SpawnTrigger::EffectAttempted, 'D'),
    (SpawnTrigger::VisibilityUncertain, 'D'),
    (SpawnTrigger::DuplicateRisk, 'D'),
    (SpawnTrigger::ComplexQuestion, 'W'),
    (SpawnTrigger::OversizedInput, 'W'),
    (SpawnTrigger::DispatchedTask, 'W'),
    (SpawnTrigger::TaskPacket, 'W'),
];

#[test]
fn e04_a_trigger_that_does_not_belong_to_its_class_is_refused() {
    for (trigger, letter) in TRIGGERS {
        for class in CLASSES {
            let request = SpawnRequest {
                class,
                trigger,
                ..child()
            };
            let refusal = ask_for(request, contract()).err();
            let expected = (!class.to_string().starts_with(letter))
                .then_some(Refusal::TriggerMismatch { trigger, class });
            assert_eq!(refusal, expected, "{trigger:?} as {class}");
        }
    }
}

#[test]
fn e04_work_must_be_listed_and_the_other_classes_need_not() {
    let types_only = policy(|policy| {
        policy.allowed_classes = RecursionPolicy::default().allowed_classes;
    });
    for (trigger, letter) in TRIGGERS {
        let request = SpawnRequest {
            class: trigger.class(),
            trigger,
            contract: types_only.clone(),
            ..child()
        };
        let class = SpawnClass::Work;
        let expected = (letter == 'W').then_some(Refusal::ClassNotAllowed { class });
        assert_eq!(ask_for(request, types_only.clone()).err(), expected);
    }
}

#[test]
fn e04_a_spawn_says_why_what_and_in_which_form() {
    let desk = ask_for(child(), contract()).unwrap();
    let events = desk.log.events(&at(&[0]));
    let Some(EventKind::Started(started)) = events.first() else {
        panic!("the child began with {events:?}");
    };
    assert_eq!(
        started.origin,
        EpisodeOrigin::Spawned {
            child_type: HELPER.into(),
            class: SpawnClass::Work,
            trigger: SpawnTrigger::ComplexQuestion,
            why: "the question has parts".into(),
            fetch: "one part of the answer".into(),
            return_format: "a sentence".into(),
        }
    );
    assert_eq!(started.depth, 1);
}

#[test]
fn e04_a_spawn_costs_no_more_than_it_says() {
    let at_most = Amounts {
        tokens: 70,
        calls: 2,
        tools: 0,
        ..AMPLE
    };
    let request = SpawnRequest { at_most, ..child() };
    let desk = ask_for(request, contract()).unwrap();
    let granted = desk.episode(&at(&[0])).started().budget.amounts;
    assert_eq!(granted.exceeds(&at_most), None);
    assert_eq!((granted.tokens, granted.calls, granted.tools), (70, 2, 0));
}

#[test]
fn e04_a_child_is_never_allowed_more_than_its_parent() {
    type Change = fn(&mut Contract);
    let table: [(Change, &str); 12] = [
        (
            |child| child.allowed_tools.push("delete".into()),
            "allowed_tools",
        ),
        (|child| child.read_scopes.push("all".into()), "read_scopes"),
        (
            |child| child.write_scopes.push("all".into()),
            "write_scopes",
        ),
        (|child| child.recursion.max_depth = 3, "max_depth"),
        (|child| child.recursion.max_children = 7, "max_children"),
        (
            |child| child.recursion.max_total_episodes = 13,
            "max_total_episodes",
        ),
        (
            |child| child.recursion.allowed_child_types.push("other".into()),
            "allowed_child_types",
        ),
        (
            |child| child.recursion.forbidden_child_types.clear(),
            "forbidden_child_types",
        ),
        (
            |child| {
                child.recursion.forbidden_child_types.pop();
            },
            "forbidden_child_types",
        ),
        (
            |child| child.recursion.stop_conditions.same_error_max = 4,
            "stop_conditions",
        ),
        (
            |child| child.recursion.stop_conditions.no_delta_children_max = 3,
            "stop_conditions",
        ),
        (
            |child| child.permission_mode = PermissionMode::Act,
            "permission_mode",
        ),
    ];
    for (change, what) in table {
        let mut parent = contract();
        if what == "permission_mode" {
            parent.permission_mode = PermissionMode::ReadOnly;
        }
        let mut request = child();
        request.contract = parent.clone();
        assert!(ask_for(request.clone(), parent.clone()).is_ok());
        change(&mut request.contract);
        let refusal = ask_for(request, parent).err();
        let what = what.to_owned();
        assert_eq!(refusal, Some(Refusal::WiderContract { what }));
    }
    let fewer_classes = policy(|policy| policy.allowed_classes = vec![SpawnClass::Work]);
    let what = "allowed_classes".to_owned();
    assert_eq!(
        ask_for(child(), fewer_classes).err(),
        Some(Refusal::WiderContract { what })
    );
}

#[test]
fn e04_a_narrower_contract_is_fine() {
    let request = SpawnRequest {
        contract: Contract::default(),
        ..child()
    };
    assert!(ask_for(request, contract()).is_ok());
}

fn of_class(class: SpawnClass, trigger: SpawnTrigger, name: &str) -> Ask {
    Ask::Spawn(Box::new(SpawnRequest {
        class,
        trigger,
        ..spawn_request(name)
    }))
}

fn repair() -> Ask {
    of_class(SpawnClass::Repair, SpawnTrigger::InvalidPayload, "child")
}

fn verify(name: &str) -> Ask {
    of_class(
        SpawnClass::Verification,
        SpawnTrigger::EffectAttempted,
        name,
    )
}

#[test]
fn e04_after_an_effect_repair_waits_for_verification() {
    let scripts = Scripts::root(vec![
        vec![repair()],
        vec![effect("event-1")],
        vec![repair()],
        vec![verify("child")],
        vec![repair()],
    ])
    .with("child", vec![vec![call(5, 5)]]);
    let heard = scripts.clone();
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    desk.reply_next("mended");
    desk.allow();
    let place = desk.attempt();
    desk.settle(
        &place,
        EffectOutcome::Failed {
            detail: "no".into(),
        },
    );
    assert_eq!(heard.refusals("root"), [Refusal::VerifyFirst]);
    desk.reply_next("it is not there");
    desk.reply_next("mended again");
    assert_eq!(heard.refusals("root"), [Refusal::VerifyFirst]);
    assert_eq!(desk.result().stop_reason, StopReason::Success);
    assert!(!desk.result().verification_needed);
}

#[test]
fn e04_a_verification_that_fails_verifies_nothing() {
    let scripts = Scripts::root(vec![
        vec![effect("event-1")],
        vec![verify("idle")],
        vec![repair()],
    ])
    .with("idle", vec![vec![]]);
    let heard = scripts.clone();
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    desk.allow();
    let place = desk.attempt();
    desk.settle(
        &place,
        EffectOutcome::Confirmed {
            receipt: "1".into(),
        },
    );
    assert_eq!(heard.refusals("root"), [Refusal::VerifyFirst]);
    assert!(desk.result().verification_needed);
}

#[test]
fn e04_a_verification_begun_before_the_effect_does_not_count() {
    let scripts = Scripts::root(vec![
        vec![verify("child"), effect("event-1")],
        vec![repair()],
    ])
    .with("child", vec![vec![call(5, 5)]]);
    let heard = scripts.clone();
    let mut desk = ManualHost::open(scripts, root(AMPLE));
    desk.allow();
    let place = desk.attempt();
    desk.reply_next("all is well");
    desk.settle(
        &place,
        EffectOutcome::Confirmed {
            receipt: "1".into(),
        },
    );
    assert_eq!(heard.refusals("root"), [Refusal::VerifyFirst]);
}
