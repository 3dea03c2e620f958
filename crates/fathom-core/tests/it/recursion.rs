//! When an episode may spawn another, and what a refusal looks like.

use fathom_core::budget::amounts::Dimension;
use fathom_core::contract::spawn::SpawnRequest;
use fathom_core::contract::stop::{Refusal, StopReason};
use fathom_core::contract::{Contract, RecursionPolicy, StopConditions, cap};
use fathom_core::episode::program::Ask;
use fathom_core::episode::result::EpisodeStatus;
use fathom_core::id::{AskId, EpisodeId};
use fathom_core::journal::command::Command;
use fathom_core::journal::event::EventKind;

use crate::spawning::TRIGGERS;
use fathom_testkit::manual_host::host::ManualHost;
use fathom_testkit::manual_host::samples::{
    AMPLE, CLASSES, HELPER, call, contract, root, spawn, spawn_request,
};
use fathom_testkit::manual_host::scripted_program::{Heard, Scripts};

/// Asks a root with `contract` for one child and says what became of it.
pub(crate) fn ask_for(request: SpawnRequest, contract: Contract) -> Result<ManualHost, Refusal> {
    let scripts = Scripts::root(vec![vec![Ask::Spawn(Box::new(request))]])
        .with("child", vec![vec![call(5, 5)]]);
    let heard = scripts.clone();
    let mut started = root(AMPLE);
    started.contract = contract;
    let desk = ManualHost::open(scripts, started);
    match heard.refusals("root").as_slice() {
        [] => {
            assert_eq!(desk.run.episodes(), 2);
            Ok(desk)
        }
        [reason] => {
            assert_eq!(desk.run.episodes(), 1);
            Err(reason.clone())
        }
        more => panic!("one ask, {} refusals", more.len()),
    }
}

pub(crate) fn child() -> SpawnRequest {
    spawn_request("child")
}

pub(crate) fn policy(change: impl FnOnce(&mut RecursionPolicy)) -> Contract {
    let mut contract = contract();
    change(&mut contract.recursion);
    contract
}

/// A child whose contract is as wide as `contract`.
fn under(contract: &Contract, name: &str) -> Ask {
    Ask::Spawn(Box::new(SpawnRequest {
        contract: contract.clone(),
        ..spawn_request(name)
    }))
}

#[test]
fn e02_recursion_is_denied_unless_the_policy_allows_the_type() {
    for class in CLASSES {
        for trigger in TRIGGERS.map(|(trigger, _)| trigger) {
            let request = SpawnRequest {
                class,
                trigger,
                contract: Contract::default(),
                ..child()
            };
            let refusal = ask_for(request, Contract::default()).err();
            let child_type = HELPER.to_owned();
            assert_eq!(refusal, Some(Refusal::ChildType { child_type }));
        }
    }
}

#[test]
fn e02_a_refused_spawn_is_an_event_and_reaches_the_program() {
    let scripts = Scripts::root(vec![vec![spawn("child")]]);
    let heard = scripts.clone();
    let mut started = root(AMPLE);
    started.contract.recursion.max_depth = 0;
    let desk = ManualHost::open(scripts, started);
    let root = EpisodeId::root();
    let (ask, reason) = (AskId(0), Refusal::Depth { max_depth: 0 });
    let command = Command::Refuse {
        ask,
        reason: reason.clone(),
    };
    assert!(desk.log.commands(&root).contains(&command));
    let event = EventKind::Refused {
        ask,
        reason: reason.clone(),
    };
    assert!(desk.log.events(&root).contains(&event));
    assert_eq!(heard.heard("root"), [Heard::Refused(ask, reason)]);
    assert_eq!(
        desk.result().status,
        EpisodeStatus::Ok,
        "the program goes on"
    );
}

#[test]
fn e03_a_policy_has_the_values_of_the_specification() {
    let policy = RecursionPolicy::default();
    assert_eq!(policy.max_depth, 2);
    assert_eq!(policy.max_children, 6);
    assert_eq!(policy.max_total_episodes, 12);
    assert!(policy.allowed_child_types.is_empty());
    assert_eq!(policy.forbidden_child_types, ["publish", "engage"]);
    assert_eq!(policy.stop_conditions.no_delta_children_max, 2);
    assert_eq!(policy.stop_conditions.same_error_max, 3);
    assert_eq!(policy.check(), Ok(()));
}

#[test]
fn e03_a_value_above_its_hard_cap_is_an_error_that_names_it() {
    type Change = fn(&mut RecursionPolicy);
    let table: [(Change, &str); 5] = [
        (
            |policy| policy.max_depth = 5,
            "`max_depth` is 5, above the hard cap of 4",
        ),
        (
            |policy| policy.max_children = 10_001,
            "`max_children` is 10001, above the hard cap of 10000",
        ),
        (
            |policy| policy.max_total_episodes = 10_001,
            "`max_total_episodes` is 10001, above the hard cap of 10000",
        ),
        (
            |policy| policy.stop_conditions.same_error_max = 101,
            "`same_error_max` is 101, above the hard cap of 100",
        ),
        (
            |policy| policy.stop_conditions.no_delta_children_max = 101,
            "`no_delta_children_max` is 101, above the hard cap of 100",
        ),
    ];
    for (change, message) in table {
        let mut policy = RecursionPolicy::default();
        change(&mut policy);
        assert_eq!(policy.check().unwrap_err().to_string(), message);
    }
    let most = RecursionPolicy {
        max_depth: cap::DEPTH_MAX,
        max_children: cap::CHILDREN_MAX,
        max_total_episodes: cap::EPISODES_MAX,
        stop_conditions: StopConditions {
            no_delta_children_max: cap::REPEATS_MAX,
            same_error_max: cap::REPEATS_MAX,
        },
        ..RecursionPolicy::default()
    };
    assert_eq!(most.check(), Ok(()));
}

#[test]
fn e03_a_depth_of_zero_turns_recursion_off_with_no_other_change() {
    let off = policy(|policy| policy.max_depth = 0);
    let request = SpawnRequest {
        contract: off.clone(),
        ..child()
    };
    assert_eq!(
        ask_for(request, off).err(),
        Some(Refusal::Depth { max_depth: 0 })
    );
    assert!(ask_for(child(), contract()).is_ok());
}

#[test]
fn e03_the_tree_is_no_deeper_than_the_policy_says() {
    let scripts = Scripts::root(vec![vec![spawn("second")]])
        .with("second", vec![vec![spawn("third")]])
        .with("third", vec![vec![spawn("fourth")]])
        .with("fourth", vec![]);
    let heard = scripts.clone();
    let desk = ManualHost::open(scripts, root(AMPLE));
    assert_eq!(desk.run.episodes(), 3);
    assert_eq!(heard.refusals("third"), [Refusal::Depth { max_depth: 2 }]);
    assert_eq!(desk.result().depth_reached, 2);
}

#[test]
fn e03_an_episode_has_no_more_children_than_the_policy_says() {
    let contract = policy(|policy| policy.max_children = 2);
    let spawn = || under(&contract, "child");
    let scripts = Scripts::root(vec![vec![spawn()], vec![spawn(), spawn()]])
        .with("child", vec![vec![call(5, 5)]]);
    let heard = scripts.clone();
    let mut started = root(AMPLE);
    started.contract = contract.clone();
    let mut desk = ManualHost::open(scripts, started);
    desk.reply_next("one");
    desk.reply_next("two");
    // The first child is over by now and counts all the same.
    assert_eq!(
        heard.refusals("root"),
        [Refusal::Children { max_children: 2 }]
    );
    assert_eq!(desk.run.episodes(), 3);
}

#[test]
fn e03_the_whole_tree_has_no_more_episodes_than_the_policy_says() {
    let contract = policy(|policy| policy.max_total_episodes = 5);
    let spawn = |name| under(&contract, name);
    let scripts = Scripts::root(vec![vec![spawn("child"), spawn("child"), spawn("child")]])
        .with("child", vec![vec![spawn("leaf"), spawn("leaf")]])
        .with("leaf", vec![vec![call(5, 5)]]);
    let heard = scripts.clone();
    let mut started = root(AMPLE);
    started.contract = contract.clone();
    // The budget alone would allow twelve.
    assert_eq!(started.budget.amounts.episodes, 12);
    let mut desk = ManualHost::open(scripts, started);
    for said in 0..8 {
        if desk.calls_out() > 0 {
            desk.reply_next(&format!("part {said}"));
        }
    }
    assert!(desk.run.episodes() <= 5, "{}", desk.run.episodes());
    let dimension = Dimension::Episodes;
    let refusals = [heard.refusals("root"), heard.refusals("child")].concat();
    assert!(refusals.contains(&Refusal::Budget { dimension }));
    assert!(desk.result().budget.spent.episodes <= 5);
}

#[test]
fn e03_only_listed_types_are_spawned_and_forbidden_ones_never() {
    let stranger = SpawnRequest {
        child_type: "stranger".into(),
        ..child()
    };
    let child_type = "stranger".to_owned();
    assert_eq!(
        ask_for(stranger, contract()).err(),
        Some(Refusal::ChildType { child_type })
    );
    let forbidding = policy(|policy| policy.forbidden_child_types.push(HELPER.into()));
    let child_type = HELPER.to_owned();
    assert_eq!(
        ask_for(child(), forbidding).err(),
        Some(Refusal::ChildType { child_type })
    );
}

#[test]
fn e03_publish_and_engage_need_an_explicit_word() {
    for kind in ["publish", "engage"] {
        let listed = policy(|policy| policy.allowed_child_types.push(kind.into()));
        let request = SpawnRequest {
            child_type: kind.into(),
            contract: listed.clone(),
            ..child()
        };
        let child_type = kind.to_owned();
        assert_eq!(
            ask_for(request.clone(), listed).err(),
            Some(Refusal::ChildType { child_type }),
            "listed, but still forbidden"
        );
        let authorised = policy(|policy| {
            policy.allowed_child_types.push(kind.into());
            policy.forbidden_child_types.retain(|name| name != kind);
        });
        let request = SpawnRequest {
            contract: authorised.clone(),
            ..request
        };
        assert!(ask_for(request, authorised).is_ok());
    }
}

#[test]
fn e02_a_refusal_names_the_stop_it_leads_to() {
    let dimension = Dimension::Money;
    let budget = StopReason::BudgetExhausted { dimension };
    assert_eq!(Refusal::Budget { dimension }.as_stop(), budget);
    assert_eq!(Refusal::Closing { dimension }.as_stop(), budget);
    assert_eq!(
        Refusal::Depth { max_depth: 2 }.as_stop(),
        StopReason::DepthExceeded
    );
    let rule = "read-only: the effect goes to the parent".to_owned();
    assert_eq!(Refusal::ReadOnly.as_stop(), StopReason::PolicyDeny { rule });
}
