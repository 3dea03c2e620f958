//! What an episode may change outside: nothing, unless its contract says so.

use fathom_core::contract::spawn::SpawnRequest;
use fathom_core::contract::stop::Refusal;
use fathom_core::contract::{AgentRole, Contract, PermissionMode};
use fathom_core::episode::program::Ask;
use fathom_core::episode::result::{NextAction, TaskPacket};
use fathom_core::id::{AskId, EpisodeId};
use fathom_core::journal::event::EventKind;
use fathom_core::run::step::HostStep;

use fathom_testkit::manual_host::host::{ManualHost, at};
use fathom_testkit::manual_host::samples::{
    AMPLE, contract, effect, effect_request, root, spawn_request,
};
use fathom_testkit::manual_host::scripted_program::{Heard, Scripts};

fn proposed(desk: &ManualHost) -> usize {
    let steps = desk.steps.iter();
    steps
        .filter(|step| matches!(step, HostStep::Decide { .. }))
        .count()
}

#[test]
fn e10_a_contract_is_read_only_unless_it_says_otherwise() {
    let contract = Contract::default();
    assert_eq!(contract.permission_mode, PermissionMode::ReadOnly);
    assert!(contract.allowed_tools.is_empty());
    assert!(contract.read_scopes.is_empty());
    assert!(contract.write_scopes.is_empty());
    let from_file: Contract = serde_json::from_str("{}").unwrap();
    assert_eq!(from_file, contract);
}

#[test]
fn e10_effects_of_a_read_only_child_are_escalated_to_its_parent() {
    let mut contract = contract();
    contract.permission_mode = PermissionMode::ReadOnly;
    let request = SpawnRequest {
        contract,
        ..spawn_request("child")
    };
    let scripts = Scripts::root(vec![vec![Ask::Spawn(Box::new(request))]])
        .with("child", vec![vec![effect("event-1")]]);
    let heard = scripts.clone();
    let desk = ManualHost::open(scripts, root(AMPLE));
    assert_eq!(heard.refusals("child"), [Refusal::ReadOnly]);
    assert_eq!(proposed(&desk), 0);
    let wanted = NextAction::Task(TaskPacket {
        role: AgentRole::Planner,
        child_type: "effect".into(),
        goal: "reply on forum as acme-news for event-1 with `post`: {\"text\":\"hello\"}".into(),
        why: "0.0 may only suggest it".into(),
    });
    let Some(Heard::Child(_, result)) = heard.heard("root").into_iter().next() else {
        panic!("the parent heard {:?}", heard.heard("root"));
    };
    assert_eq!(result.next_actions, [wanted]);
    let refused = EventKind::Refused {
        ask: AskId(0),
        reason: Refusal::ReadOnly,
    };
    assert!(desk.log.events(&at(&[0])).contains(&refused));
}

#[test]
fn e10_a_tool_that_is_not_on_the_list_is_refused() {
    let mut request = effect_request("event-1");
    request.tool = "delete".into();
    let scripts = Scripts::root(vec![vec![Ask::Effect(request)]]);
    let heard = scripts.clone();
    let desk = ManualHost::open(scripts, root(AMPLE));
    let tool = "delete".to_owned();
    assert_eq!(heard.refusals("root"), [Refusal::ToolNotAllowed { tool }]);
    assert_eq!(proposed(&desk), 0);
    assert!(desk.result().next_actions.is_empty());
}

#[test]
fn e10_an_acting_episode_proposes_what_is_on_its_list() {
    let scripts = Scripts::root(vec![vec![effect("event-1")]]);
    let desk = ManualHost::open(scripts, root(AMPLE));
    let proposal = HostStep::Decide {
        episode: EpisodeId::root(),
        ask: AskId(0),
        effect: effect_request("event-1"),
    };
    assert!(desk.steps.contains(&proposal));
}
