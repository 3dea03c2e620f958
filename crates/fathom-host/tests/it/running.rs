use fathom_core::budget::amounts::{Amounts, Dimension};
use fathom_core::contract::stop::StopReason;
use fathom_core::episode::result::EpisodeStatus;
use fathom_core::journal::event::{EventKind, Signal};
use fathom_core::model::failure::FailureKind;
use fathom_core::run::step::RunWait;
use fathom_core::unit::Millis;
use fathom_host::{HostError, RunEnd};
use fathom_programs::direct;
use fathom_store::RunState;
use fathom_testkit::drill;
use fathom_testkit::model_server::{
    ChunkGate, FinishCode, ModelServer, ReplyBehaviour, ReportedUsage, SeenRequest,
};

use crate::fixture::{BUDGET, check, finished, host, models, new_run};

fn ask() -> direct::DirectConfig {
    direct::DirectConfig::default()
}

#[tokio::test]
async fn e01_a_question_is_answered_and_the_record_holds() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = ModelServer::replying("because").await.expect("a port");
    let host = host(dir.path());
    let handle = host
        .start(new_run(ask().spec(), models(&server)))
        .expect("it starts");
    let run = handle.run();
    let result = finished(handle).await;
    assert_eq!(result.status, EpisodeStatus::Ok);
    assert_eq!(result.stop_reason, StopReason::Success);
    assert_eq!(result.answer.expect("an answer").as_str(), "because");
    assert_eq!(result.budget.spent.calls, 1);
    check(&host, run);
    let info = host.info(run).expect("it is listed");
    assert_eq!(info.state, RunState::Finished(EpisodeStatus::Ok));
    assert!(matches!(host.resume(run), Err(HostError::Finished { .. })));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c08_many_calls_at_once_stay_within_the_width() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = ModelServer::replying("fine").await.expect("a port");
    let host = host(dir.path());
    let params = drill::DrillConfig {
        calls: 500,
        ..drill::DrillConfig::default()
    };
    let handle = host
        .start(new_run(params.spec(), models(&server)))
        .expect("it starts");
    let run = handle.run();
    let result = finished(handle).await;
    assert_eq!(result.status, EpisodeStatus::Ok);
    assert_eq!(server.log().len(), 500);
    assert!(
        server.most_in_flight() <= 128,
        "{}",
        server.most_in_flight()
    );
    check(&host, run);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e06_batched_calls_never_go_over_a_limit() {
    let dir = tempfile::tempdir().expect("a folder");
    let usage = ReportedUsage::Says {
        input: 20,
        output: 10,
    };
    let server =
        ModelServer::start(move |_: &SeenRequest| ReplyBehaviour::reply("fine").usage(usage))
            .await
            .expect("a port");
    let host = host(dir.path());
    let params = drill::DrillConfig {
        calls: 300,
        ..drill::DrillConfig::default()
    };
    let mut new = new_run(params.spec(), models(&server));
    new.budget.amounts.calls = 100;
    new.budget.amounts.tokens = 2_000;
    let handle = host.start(new).expect("it starts");
    let run = handle.run();
    let result = finished(handle).await;
    let sent = server.log().len() as u64;
    assert_eq!(result.budget.spent.calls, sent);
    assert_eq!(result.budget.spent.tokens, sent * 30);
    assert!(sent > 1 && sent * 30 <= 2_000, "{sent} calls");
    let refused = host
        .story(run)
        .expect("a story")
        .root()
        .expect("a root")
        .refusals
        .len();
    assert_eq!(refused as u64, 300 - sent, "each is answered or refused");
    check(&host, run);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e05_a_deadline_reaches_calls_in_flight_and_keeps_what_was_said() {
    let dir = tempfile::tempdir().expect("a folder");
    let gate = ChunkGate::new();
    gate.release(2);
    let held = gate.clone();
    let server = ModelServer::start(move |_: &SeenRequest| {
        ReplyBehaviour::chunks(["first ", "second ", "never"]).gated(&held)
    })
    .await
    .expect("a port");
    let host = host(dir.path());
    let mut new = new_run(ask().spec(), models(&server));
    new.budget.time = Millis(700);
    let handle = host.start(new).expect("it starts");
    let run = handle.run();
    let result = finished(handle).await;
    assert_eq!(result.status, EpisodeStatus::NeedsReview);
    let dimension = Dimension::Time;
    assert_eq!(
        result.stop_reason,
        StopReason::BudgetExhausted { dimension }
    );
    let answer = result.answer.expect("what was said is kept");
    assert!(answer.as_str().starts_with("first"), "{answer:?}");
    assert!(!answer.as_str().contains("never"));
    check(&host, run);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x04_cancel_reaches_children_and_calls_in_flight() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = ModelServer::start(|_: &SeenRequest| ReplyBehaviour::stall())
        .await
        .expect("a port");
    let host = host(dir.path());
    let child = drill::DrillChild {
        drill: drill::DrillConfig {
            calls: 2,
            ..drill::DrillConfig::default()
        },
        ..drill::DrillChild::default()
    };
    let params = drill::DrillConfig {
        calls: 0,
        children: vec![child.clone(), child.clone()],
        ..drill::DrillConfig::default()
    };
    let mut new = new_run(params.spec(), models(&server));
    new.contract.recursion.allowed_child_types = vec![child.child_type.clone()];
    new.contract.recursion.allowed_classes.push(child.class);
    let handle = host.start(new).expect("it starts");
    let run = handle.run();
    server.until(|log| log.len() == 4).await;
    assert!(host.cancel(run).expect("it can be asked").is_none());
    let result = finished(handle).await;
    assert_eq!(result.stop_reason, StopReason::Cancelled);
    assert_eq!(result.budget.spent.calls, 4, "what went out may be billed");
    let story = host.story(run).expect("a story");
    assert_eq!(story.chapters.len(), 3);
    for chapter in story.chapters.values() {
        let stop = &chapter.result.as_ref().expect("all ended").stop_reason;
        assert_eq!(*stop, StopReason::Cancelled);
    }
    check(&host, run);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x08_an_outage_leaves_a_run_that_can_be_resumed() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = ModelServer::queued([ReplyBehaviour::html(), ReplyBehaviour::reply("back again")])
        .await
        .expect("a port");
    let host = host(dir.path());
    let handle = host
        .start(new_run(ask().spec(), models(&server)))
        .expect("it starts");
    let run = handle.run();
    match handle.end().await {
        RunEnd::Waiting(RunWait::Outage(failure)) => {
            assert_eq!(failure.kind, FailureKind::Malformed);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(host.unfinished().expect("a list"), [run]);
    let result = finished(host.resume(run).expect("it resumes")).await;
    assert_eq!(result.answer.expect("an answer").as_str(), "back again");
    assert_eq!(
        result.budget.spent.calls, 2,
        "the page may have been billed"
    );
    check(&host, run);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e06_usage_above_the_reservation_is_an_overrun() {
    let dir = tempfile::tempdir().expect("a folder");
    let usage = ReportedUsage::Says {
        input: 5_000,
        output: 9_000,
    };
    let server =
        ModelServer::start(move |_: &SeenRequest| ReplyBehaviour::reply("short").usage(usage))
            .await
            .expect("a port");
    let host = host(dir.path());
    let handle = host
        .start(new_run(ask().spec(), models(&server)))
        .expect("it starts");
    let run = handle.run();
    let result = finished(handle).await;
    assert_eq!(result.budget.spent.tokens, 14_000);
    let overruns = host.records(run).expect("records").into_iter();
    let overruns: Vec<_> = overruns
        .filter(|(_, record)| matches!(record.event.kind, EventKind::Overrun { .. }))
        .collect();
    assert_eq!(overruns.len(), 1);
    check(&host, run);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x02_a_fork_goes_on_from_any_record_of_any_episode() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = ModelServer::start(|seen: &SeenRequest| {
        if seen.prompt.contains("Rubric") {
            ReplyBehaviour::reply("PASS it says so")
        } else if seen.prompt.contains("half") {
            ReplyBehaviour::reply(" and done")
        } else {
            ReplyBehaviour::reply("half").finish(FinishCode::Length)
        }
    })
    .await
    .expect("a port");
    let host = host(dir.path());
    let review = direct::ReviewRules {
        rubric: "be whole".into(),
        revisions_max: 1,
    };
    let params = direct::DirectConfig {
        review: Some(review),
        ..ask()
    };
    let mut new = new_run(params.spec(), models(&server));
    new.contract.recursion.allowed_child_types = vec![direct::CRITIQUE.into()];
    let handle = host.start(new).expect("it starts");
    let run = handle.run();
    let original = finished(handle).await;
    assert_eq!(original.status, EpisodeStatus::Ok);
    let records = host.records(run).expect("records");
    assert!(
        records.iter().any(|(episode, _)| !episode.is_root()),
        "there is a child"
    );
    for (episode, record) in &records {
        let place = fathom_host::view::run::RecordRef {
            episode: episode.clone(),
            seq: record.seq,
        };
        if record.result().is_some() && episode.is_root() {
            continue;
        }
        let fork = host.fork(run, &place).expect("it forks");
        let id = fork.run();
        let result = finished(fork).await;
        assert_eq!(result.answer, original.answer, "forked at {place:?}");
        check(&host, id);
    }
    check(&host, run);
}

#[tokio::test]
async fn x08_a_shredded_run_verifies_and_says_that_its_content_is_gone() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = ModelServer::replying("secret").await.expect("a port");
    let host = host(dir.path());
    let handle = host
        .start(new_run(ask().spec(), models(&server)))
        .expect("it starts");
    let run = handle.run();
    finished(handle).await;
    host.shred(run).expect("it can be shredded");
    let verification = host.verify(Some(run)).expect("it can be read");
    assert_eq!(verification.problems, []);
    assert_eq!(verification.shredded, [run]);
    assert!(matches!(host.replay(run), Err(HostError::Shredded { .. })));
    let story = host.story(run).expect("its structure is there");
    assert!(story.root().expect("a root").started.goal.is_closed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e16_a_global_kill_stops_a_run_and_survives_a_restart() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = ModelServer::start(|_: &SeenRequest| ReplyBehaviour::stall())
        .await
        .expect("a port");
    let host_one = host(dir.path());
    let handle = host_one
        .start(new_run(ask().spec(), models(&server)))
        .expect("it starts");
    server.until(|log| log.len() == 1).await;
    let scope = fathom_core::effect::KillScope::Global;
    host_one
        .signal(
            handle.run(),
            &Signal::Kill {
                scope: scope.clone(),
            },
        )
        .expect("it can be said");
    let result = finished(handle).await;
    assert_eq!(result.stop_reason, StopReason::KillSwitch { scope });
    assert_eq!(
        result.budget.spent,
        Amounts {
            calls: 1,
            episodes: 1,
            ..result.budget.spent
        }
    );
    assert!(result.budget.spent.tokens <= BUDGET.amounts.tokens);
}

/// The driver runs on this thread, so it cannot listen before the test lets it: what became durable by then must
/// still move it on.
#[tokio::test(flavor = "current_thread")]
async fn x04_a_resumed_run_hears_what_was_durable_before_it_listened() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = ModelServer::queued([
        ReplyBehaviour::reply("first"),
        ReplyBehaviour::html(),
        ReplyBehaviour::reply("back again"),
    ])
    .await
    .expect("a port");
    let host = host(dir.path());
    let other = host
        .start(new_run(ask().spec(), models(&server)))
        .expect("it starts");
    let bystander = other.run();
    finished(other).await;
    let mut new = new_run(ask().spec(), models(&server));
    new.budget.time = Millis(10_000);
    let handle = host.start(new).expect("it starts");
    let run = handle.run();
    assert!(matches!(
        handle.end().await,
        RunEnd::Waiting(RunWait::Outage(_))
    ));
    let resumed = host.resume(run).expect("it resumes");
    // Both go through the journal's one queue, behind the records of the resumed run: when the second is in,
    // the journal has said that those are durable.
    for _ in 0..2 {
        host.signal(bystander, &Signal::Cancel)
            .expect("it can be said");
    }
    let result = finished(resumed).await;
    assert_eq!(result.answer.expect("an answer").as_str(), "back again");
}
