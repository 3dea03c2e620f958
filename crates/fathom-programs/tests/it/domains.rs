//! Domains with owners: who may write and read them, one writer at a time, and what came from outside.

use fathom_core::contract::AgentRole;
use fathom_core::contract::spawn::SpawnRequest;
use fathom_core::contract::stop::Refusal;
use fathom_core::domain::{DomainAccess, DomainRequest, OWNERS, name};
use fathom_core::effect::{EffectOutcome, TaintedArgument};
use fathom_core::episode::program::Ask;
use fathom_core::id::EpisodeId;
use fathom_core::journal::event::EventKind;

use crate::phase_fixture::asked;
use fathom_testkit::manual_host::host::{ManualHost, at};
use fathom_testkit::manual_host::samples::{AMPLE, call, contract, effect, root, spawn_request};
use fathom_testkit::manual_host::scripted_program::Scripts;

const ROLES: [AgentRole; 7] = [
    AgentRole::Orchestrator,
    AgentRole::Planner,
    AgentRole::Creator,
    AgentRole::Publisher,
    AgentRole::Engagement,
    AgentRole::Verifier,
    AgentRole::Doc,
];

fn all_domains() -> Vec<String> {
    OWNERS.map(|owners| owners.domain.to_owned()).to_vec()
}

fn domain(domain: &str, access: DomainAccess) -> Ask {
    Ask::Domain(DomainRequest::new(domain, access, "{}".into()))
}

/// A child that may read everything and write these domains.
fn child(name: &str, role: AgentRole, writes: &[&str]) -> Ask {
    let mut contract = contract();
    contract.read_scopes = all_domains();
    contract.write_scopes = writes.iter().map(|&domain| domain.to_owned()).collect();
    Ask::Spawn(Box::new(SpawnRequest {
        role,
        contract,
        ..spawn_request(name)
    }))
}

/// A root of this role whose contract names every domain.
fn open(role: AgentRole, scripts: &Scripts) -> ManualHost {
    let mut started = root(AMPLE);
    started.role = role;
    started.contract.read_scopes = all_domains();
    started.contract.write_scopes = all_domains();
    ManualHost::open(scripts.clone(), started)
}

/// What a role is refused for one ask.
fn refused(role: AgentRole, ask: Ask) -> Vec<Refusal> {
    let scripts = Scripts::root(vec![vec![ask]]);
    open(role, &scripts);
    scripts.refusals("root")
}

fn not_owner(domain: &str, access: DomainAccess, role: AgentRole) -> Refusal {
    Refusal::NotOwner {
        domain: domain.to_owned(),
        access,
        role,
    }
}

fn lent(domain: &str, to: EpisodeId) -> Refusal {
    let domain = domain.to_owned();
    Refusal::Lent { domain, to }
}

/// The domain that is asked next answers this.
#[track_caller]
fn answer(desk: &mut ManualHost, episode: &EpisodeId, text: &str) -> DomainRequest {
    let (ask, request) = asked(desk);
    let answer = text.into();
    desk.deliver(episode, EventKind::DomainAnswered { ask, answer });
    request
}

#[test]
fn e11_a_role_writes_and_reads_what_it_owns_and_nothing_else() {
    for owners in OWNERS {
        for role in ROLES {
            for (access, roles) in [
                (DomainAccess::Write, owners.writers),
                (DomainAccess::Read, owners.readers),
            ] {
                let expected = if roles.contains(&role) {
                    Vec::new()
                } else {
                    vec![not_owner(owners.domain, access, role)]
                };
                let found = refused(role, domain(owners.domain, access));
                assert_eq!(found, expected, "{role} {access:?} {}", owners.domain);
            }
        }
    }
}

#[test]
fn e11_a_creator_writes_no_plan_and_a_doc_reads_none() {
    let (write, read) = (DomainAccess::Write, DomainAccess::Read);
    assert_eq!(
        refused(AgentRole::Creator, domain(name::PLAN, write)),
        [not_owner(name::PLAN, write, AgentRole::Creator)]
    );
    assert_eq!(
        refused(AgentRole::Doc, domain(name::PLAN, read)),
        [not_owner(name::PLAN, read, AgentRole::Doc)]
    );
    let words = not_owner(name::PLAN, write, AgentRole::Creator).to_string();
    assert!(
        words.contains("plan") && words.contains("creator"),
        "{words}"
    );
}

#[test]
fn e11_no_role_writes_events_policy_or_flags() {
    for role in ROLES {
        for theirs in [name::EVENTS, name::POLICY, name::FLAGS] {
            assert_eq!(
                refused(role, domain(theirs, DomainAccess::Write)),
                [not_owner(theirs, DomainAccess::Write, role)]
            );
        }
    }
}

#[test]
fn e11_an_episode_does_not_lend_what_it_writes_itself_right_now() {
    let asks = vec![
        domain(name::PLAN, DomainAccess::Write),
        child("a", AgentRole::Planner, &[name::PLAN]),
    ];
    for asks in [asks.clone(), asks.into_iter().rev().collect()] {
        let scripts = Scripts::root(vec![asks]);
        open(AgentRole::Planner, &scripts);
        assert_eq!(
            scripts.refusals("root"),
            [lent(name::PLAN, EpisodeId::root())]
        );
    }
}

#[test]
fn e11_a_child_is_not_given_a_domain_that_its_role_does_not_own() {
    assert_eq!(
        refused(
            AgentRole::Orchestrator,
            child("a", AgentRole::Creator, &[name::PLAN])
        ),
        [not_owner(
            name::PLAN,
            DomainAccess::Write,
            AgentRole::Creator
        )]
    );
    assert_eq!(
        refused(
            AgentRole::Orchestrator,
            child("a", AgentRole::Verifier, &[name::EVENTS])
        ),
        [not_owner(
            name::EVENTS,
            DomainAccess::Write,
            AgentRole::Verifier
        )]
    );
}

#[test]
fn e11_of_two_planners_at_once_the_second_is_refused() {
    let planner = |name| child(name, AgentRole::Planner, &[name::PLAN]);
    let creator = child("c", AgentRole::Creator, &[name::ASSETS]);
    let scripts = Scripts::root(vec![vec![planner("a"), planner("b"), creator]])
        .with("a", vec![vec![call(10, 10)]])
        .with("b", vec![vec![call(10, 10)]])
        .with("c", vec![vec![call(10, 10)]]);
    let desk = open(AgentRole::Orchestrator, &scripts);
    assert_eq!(scripts.refusals("root"), [lent(name::PLAN, at(&[0]))]);
    assert_eq!(desk.calls_out(), 2, "one planner and the creator");
}

#[test]
fn e11_what_was_lent_is_free_again_when_the_child_is_over() {
    let write = || domain(name::PLAN, DomainAccess::Write);
    let planner = |name| child(name, AgentRole::Planner, &[name::PLAN]);
    let scripts = Scripts::root(vec![
        vec![
            planner("a"),
            planner("b"),
            domain(name::PLAN, DomainAccess::Read),
        ],
        vec![write()],
        vec![planner("b")],
    ])
    .with("a", vec![vec![call(10, 10)], vec![write()]])
    .with("b", vec![vec![write()]]);
    let mut desk = open(AgentRole::Planner, &scripts);
    assert_eq!(scripts.refusals("root"), [lent(name::PLAN, at(&[0]))]);
    let read = answer(&mut desk, &EpisodeId::root(), "{}");
    assert_eq!(read.access, DomainAccess::Read, "a read is no harm");
    desk.reply_next("done");
    let theirs = answer(&mut desk, &at(&[0]), "{}");
    assert_eq!(theirs.access, DomainAccess::Write);
    // The child is over, and the next round begins.
    let own = answer(&mut desk, &EpisodeId::root(), "{}");
    assert_eq!(own.access, DomainAccess::Write);
    answer(&mut desk, &at(&[1]), "{}");
    assert_eq!(scripts.refusals("root").len(), 1);
    assert!(scripts.refusals("b").is_empty());
    assert!(desk.is_over());
}

#[test]
fn e11_a_child_lends_on_to_one_child_of_its_own() {
    let write = || domain(name::PLAN, DomainAccess::Write);
    let planner = |name| child(name, AgentRole::Planner, &[name::PLAN]);
    let scripts = Scripts::root(vec![vec![planner("a")]])
        .with("a", vec![vec![planner("b"), planner("c")], vec![write()]])
        .with("b", vec![vec![call(10, 10)]]);
    let mut desk = open(AgentRole::Orchestrator, &scripts);
    assert_eq!(scripts.refusals("a"), [lent(name::PLAN, at(&[0, 0]))]);
    desk.reply_next("done");
    answer(&mut desk, &at(&[0]), "{}");
    assert!(desk.is_over());
}

#[test]
fn e11_after_a_crash_a_domain_is_still_lent() {
    let read = || domain(name::PLAN, DomainAccess::Read);
    let planner = |name| child(name, AgentRole::Planner, &[name::PLAN]);
    let scripts = Scripts::root(vec![vec![child("b", AgentRole::Planner, &[name::PLAN])]])
        .with("b", vec![vec![planner("c"), read(), planner("d")]])
        .with("c", vec![vec![call(10, 10)]]);
    let mut desk = open(AgentRole::Orchestrator, &scripts);
    let before = scripts.refusals("b");
    assert_eq!(before, [lent(name::PLAN, at(&[0, 0]))]);
    // A new owner folds the journal, and must come to the same refusal.
    desk.crash(desk.log.entries.len());
    assert_eq!(scripts.refusals("b"), [before.clone(), before].concat());
}

/// What the arguments of the effect that is proposed next may come from.
#[track_caller]
fn sources(desk: &mut ManualHost) -> Vec<String> {
    let taint = desk.allow().effect.taint;
    let places: Vec<&str> = taint.iter().map(|one| one.argument.as_str()).collect();
    assert!(places.is_empty() || places == ["/text"], "{places:?}");
    taint
        .into_iter()
        .flat_map(|one: TaintedArgument| one.sources)
        .collect()
}

#[test]
fn e11_what_an_untrusted_domain_says_marks_what_follows() {
    let rounds = vec![
        vec![effect("event-0")],
        vec![domain(name::EVENTS, DomainAccess::Read)],
        vec![effect("event-1")],
        vec![domain(name::CONVERSATIONS, DomainAccess::Write)],
    ];
    let scripts = Scripts::root(rounds);
    let mut desk = open(AgentRole::Engagement, &scripts);
    assert!(sources(&mut desk).is_empty(), "nothing was read yet");
    let place = desk.attempt();
    let failed = EffectOutcome::Failed {
        detail: "no".into(),
    };
    desk.settle(&place, failed);
    answer(&mut desk, &EpisodeId::root(), "{}");
    let seen = sources(&mut desk);
    assert!(seen.contains(&"domain:events".to_owned()), "{seen:?}");
    let place = desk.attempt();
    let receipt = "post 1".into();
    desk.settle(&place, EffectOutcome::Confirmed { receipt });
    let written = answer(&mut desk, &EpisodeId::root(), "{}");
    assert_eq!(written.sources, ["domain:events", "tool:post"]);
}

#[test]
fn e11_what_a_domain_says_of_its_sources_is_believed() {
    let rounds = vec![
        vec![domain(name::PLAN, DomainAccess::Read)],
        vec![effect("event-1")],
    ];
    for (said, expected) in [
        (r#"{"records":[]}"#, vec![]),
        (
            r#"{"records":[],"sources":["domain:events","tool:http"]}"#,
            vec!["domain:events", "tool:http"],
        ),
    ] {
        let scripts = Scripts::root(rounds.clone());
        let mut desk = open(AgentRole::Publisher, &scripts);
        answer(&mut desk, &EpisodeId::root(), said);
        assert_eq!(sources(&mut desk), expected);
    }
}

#[test]
fn e11_what_a_child_has_read_marks_its_parent_and_its_siblings_after_it() {
    let rounds = vec![
        vec![child("reader", AgentRole::Engagement, &[])],
        vec![child("sender", AgentRole::Publisher, &[])],
    ];
    let scripts = Scripts::root(rounds)
        .with(
            "reader",
            vec![vec![domain(name::EVENTS, DomainAccess::Read)]],
        )
        .with("sender", vec![vec![effect("event-1")]]);
    let mut desk = open(AgentRole::Orchestrator, &scripts);
    answer(&mut desk, &at(&[0]), "{}");
    assert_eq!(sources(&mut desk), ["domain:events"]);
    let place = desk.attempt();
    let receipt = "post 1".into();
    desk.settle(&place, EffectOutcome::Confirmed { receipt });
    assert_eq!(desk.result().sources, ["domain:events", "tool:post"]);
}
