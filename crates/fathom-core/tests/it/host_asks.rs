//! What an episode asks of its host that costs no budget: shorter texts, cells, entries for domains.

use fathom_core::contract::stop::{Refusal, StopReason};
use fathom_core::domain::{DomainAccess, DomainRequest};
use fathom_core::episode::program::Ask;
use fathom_core::id::{AskId, EpisodeId};
use fathom_core::journal::event::{EventKind, Signal};
use fathom_core::run::step::HostStep;
use fathom_core::sandbox::{
    CellCall, CellLimits, CellOutput, CellQuestion, CellResult, ContextSource,
};

use fathom_testkit::manual_host::host::ManualHost;
use fathom_testkit::manual_host::samples::{AMPLE, root};
use fathom_testkit::manual_host::scripted_program::{Heard, Scripts};

fn summarise() -> Ask {
    Ask::Summarise {
        text: "a long text".into(),
        tokens_max: 3,
    }
}

fn cell() -> Ask {
    Ask::RunCell {
        code: "print(context[:80])".into(),
        context: ContextSource::Given,
        limits: CellLimits::default(),
    }
}

fn ended(ask: AskId, said: &str) -> EventKind {
    let output = CellOutput {
        head: said.into(),
        tail: None,
        bytes: said.len() as u64,
    };
    EventKind::CellFinished {
        ask,
        end: Box::new(CellResult {
            output,
            ..CellResult::default()
        }),
    }
}

fn domain(access: DomainAccess) -> Ask {
    Ask::Domain(DomainRequest::new("plans", access, "a plan".into()))
}

fn open(asks: Vec<Ask>) -> (ManualHost, Scripts) {
    let scripts = Scripts::root(vec![asks]);
    let heard = scripts.clone();
    let mut started = root(AMPLE);
    started.contract.read_scopes = vec!["plans".into()];
    started.contract.write_scopes = vec!["plans".into()];
    (ManualHost::open(scripts, started), heard)
}

#[test]
fn a_domain_answers_the_program() {
    let (mut desk, heard) = open(vec![domain(DomainAccess::Read)]);
    let (ask, answer) = (AskId(0), "kept".into());
    desk.deliver(
        &EpisodeId::root(),
        EventKind::DomainAnswered { ask, answer },
    );
    assert_eq!(heard.heard("root"), [Heard::Host(AskId(0), "kept".into())]);
}

#[test]
fn e10_a_domain_outside_the_contract_is_refused() {
    for access in [DomainAccess::Read, DomainAccess::Write] {
        let scripts = Scripts::root(vec![vec![domain(access)]]);
        let heard = scripts.clone();
        let mut started = root(AMPLE);
        match access {
            DomainAccess::Read => started.contract.write_scopes = vec!["plans".into()],
            DomainAccess::Write => started.contract.read_scopes = vec!["plans".into()],
        }
        let desk = ManualHost::open(scripts, started);
        assert!(asked(&desk).is_empty());
        let domain = "plans".into();
        assert_eq!(
            heard.refusals("root"),
            [Refusal::OutOfScope { domain, access }]
        );
    }
}

fn asked(desk: &ManualHost) -> Vec<AskId> {
    let steps = desk.steps.iter();
    steps
        .filter_map(|step| match step {
            HostStep::Host { ask, .. } => Some(*ask),
            _ => None,
        })
        .collect()
}

#[test]
fn answers_of_the_host_reach_the_program() {
    let (mut desk, heard) = open(vec![summarise(), cell()]);
    assert_eq!(asked(&desk), [AskId(0), AskId(1)]);
    let root = EpisodeId::root();
    let (ask, text) = (AskId(0), "short".into());
    desk.deliver(
        &root,
        EventKind::Summarised {
            ask,
            text,
            round: 0,
        },
    );
    desk.deliver(&root, ended(AskId(1), "1"));
    assert_eq!(
        heard.heard("root"),
        [
            Heard::Host(AskId(0), "short".into()),
            Heard::CellEnded(AskId(1), "1".into())
        ]
    );
    assert_eq!(desk.result().stop_reason, StopReason::Success);
    assert_eq!(desk.result().budget.spent.calls, 0);
}

#[test]
fn a_cell_is_heard_while_it_runs_and_not_after() {
    let (mut desk, heard) = open(vec![cell(), summarise()]);
    let root = EpisodeId::root();
    let yields = |id| EventKind::CellYielded {
        ask: AskId(0),
        question: Box::new(CellQuestion {
            id,
            draft: None,
            call: CellCall::Budget,
        }),
    };
    desk.deliver(&root, yields(0));
    desk.deliver(&root, ended(AskId(0), "done"));
    desk.deliver(&root, yields(1));
    desk.deliver(&root, ended(AskId(0), "done twice"));
    assert_eq!(
        heard.heard("root"),
        [
            Heard::Cell(AskId(0), 0),
            Heard::CellEnded(AskId(0), "done".into())
        ]
    );
}

#[test]
fn x08_a_host_that_cannot_says_so() {
    let (mut desk, heard) = open(vec![summarise(), cell(), domain(DomainAccess::Read)]);
    let reason = Refusal::Unavailable {
        what: "sandbox".into(),
    };
    for ask in asked(&desk) {
        let reason = reason.clone();
        desk.deliver(&EpisodeId::root(), EventKind::Refused { ask, reason });
    }
    assert_eq!(heard.refusals("root"), vec![reason; 3]);
    assert_eq!(desk.result().stop_reason, StopReason::Success);
}

#[test]
fn x04_a_new_owner_asks_the_host_again() {
    let (mut desk, heard) = open(vec![summarise(), cell(), domain(DomainAccess::Read)]);
    desk.crash(desk.log.entries.len());
    assert_eq!(asked(&desk), [AskId(0), AskId(1), AskId(2)]);
    assert!(heard.heard("root").is_empty());
}

#[test]
fn a_stopping_episode_waits_for_no_host() {
    let (mut desk, _) = open(vec![summarise(), cell(), domain(DomainAccess::Read)]);
    desk.signal(&Signal::Cancel);
    assert_eq!(desk.result().stop_reason, StopReason::Cancelled);
}
