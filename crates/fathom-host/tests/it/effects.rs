use std::sync::Arc;

use fathom_core::contract::{Autonomy, PermissionMode};
use fathom_core::effect::{ApprovalTerms, PolicyDecision};
use fathom_core::episode::result::EpisodeStatus;
use fathom_core::id::Digest;
use fathom_core::journal::event::EventKind;
use fathom_core::run::step::RunWait;
use fathom_host::effects::port::EffectPort;
use fathom_host::governance::people::{ApprovalDecision, Approver, OsUser};
use fathom_host::{NewRun, RunEnd};
use fathom_store::{ApprovalAnswer, ApprovalFilter};
use fathom_testkit::drill;
use fathom_testkit::model_server::ModelServer;

use crate::fixture::{Platform, check, effect, finished, host_with, models, new_run};

/// What a person decides about.
const BINDING: Digest = Digest([7; 32]);

pub(crate) fn acting(server: &ModelServer, events: &[&str]) -> NewRun {
    let effects = events.iter().map(|event| drill::DrillEffect {
        round: 0,
        request: effect(event),
    });
    let params = drill::DrillConfig {
        calls: 0,
        effects: effects.collect(),
        ..drill::DrillConfig::default()
    };
    let mut new = new_run(params.spec(), models(server));
    new.contract.permission_mode = PermissionMode::Act;
    new.contract.autonomy = Autonomy::Act;
    new.contract.allowed_tools = vec!["post".into()];
    new
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e13_an_effect_follows_a_durable_decision_and_happens_once() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = ModelServer::replying("unused").await.expect("a port");
    let platform = Arc::new(Platform::default());
    let host = host_with(dir.path(), Arc::clone(&platform) as Arc<dyn EffectPort>);
    let handle = host.start(acting(&server, &["a", "b"])).expect("it starts");
    let run = handle.run();
    let result = finished(handle).await;
    assert_eq!(result.budget.spent.tools, 2);
    assert_eq!(platform.done().len(), 2);
    check(&host, run);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e14_a_second_run_cannot_send_under_the_same_key() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = ModelServer::replying("unused").await.expect("a port");
    let platform = Arc::new(Platform::default());
    let host = host_with(dir.path(), Arc::clone(&platform) as Arc<dyn EffectPort>);
    finished(host.start(acting(&server, &["a"])).expect("it starts")).await;
    let handle = host.start(acting(&server, &["a"])).expect("it starts");
    let run = handle.run();
    finished(handle).await;
    assert_eq!(platform.done().len(), 1, "sent twice");
    let denied = host
        .records(run)
        .expect("records")
        .into_iter()
        .any(|(_, record)| {
            matches!(
                record.event.kind,
                EventKind::EffectDecided {
                    decision: PolicyDecision::Deny { .. },
                    ..
                }
            )
        });
    assert!(denied, "the second run was told why");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e13_an_unknown_outcome_is_reconciled_by_asking() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = ModelServer::replying("unused").await.expect("a port");
    let platform = Platform::losing_answers();
    let host = host_with(dir.path(), Arc::clone(&platform) as Arc<dyn EffectPort>);
    let handle = host.start(acting(&server, &["a"])).expect("it starts");
    let run = handle.run();
    let result = finished(handle).await;
    assert_eq!(result.status, EpisodeStatus::Ok);
    assert_eq!(platform.done().len(), 1);
    check(&host, run);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e05_an_approval_suspends_the_run_over_a_restart() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = ModelServer::replying("unused").await.expect("a port");
    let platform = Platform::deciding(PolicyDecision::NeedsApproval {
        rule: "ask first".into(),
        terms: Box::new(ApprovalTerms::open(BINDING)),
    });
    let port = Arc::clone(&platform) as Arc<dyn EffectPort>;
    let host = host_with(dir.path(), Arc::clone(&port));
    let handle = host.start(acting(&server, &["a"])).expect("it starts");
    let run = handle.run();
    assert!(matches!(
        handle.end().await,
        RunEnd::Waiting(RunWait::Approval)
    ));
    drop(host);

    let host = host_with(dir.path(), port);
    let again = host.resume(run).expect("it resumes");
    assert!(
        matches!(again.end().await, RunEnd::Waiting(RunWait::Approval)),
        "nobody decided"
    );
    assert_eq!(platform.done().len(), 0);
    let asked = host
        .approvals(ApprovalFilter::Open)
        .expect("a list")
        .remove(0);
    let yes = ApprovalDecision {
        answer: ApprovalAnswer::Yes,
        person: Approver::OsUser(OsUser::current()),
        why: String::new(),
    };
    host.decide(&asked.approval, &yes).expect("it counts");
    let result = finished(host.resume(run).expect("it resumes")).await;
    assert_eq!(result.status, EpisodeStatus::Ok);
    assert_eq!(platform.done().len(), 1);
    check(&host, run);
}
