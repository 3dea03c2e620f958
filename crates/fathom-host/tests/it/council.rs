use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use fathom_core::budget::amounts::Dimension;
use fathom_core::contract::stop::StopReason;
use fathom_core::episode::program::ProgramError;
use fathom_core::episode::result::{EpisodeResult, EpisodeStatus};
use fathom_core::id::RunId;
use fathom_core::journal::command::Command;
use fathom_core::journal::event::{EventKind, ModelCallOutcome};
use fathom_core::model::failure::FailureKind;
use fathom_core::unit::{Millis, PerMille};
use fathom_host::{HostError, RunEnd, RunHandle, Runtime};
use fathom_programs::council::{
    ConfidenceSource, CouncilConfig, CouncilReport, SampledVotes, SeatFailure, SourceRef,
    SynthesisMode, Vote, VoteError,
};
use fathom_testkit::model_server::{
    ChunkGate, ModelServer, ReplyBehaviour, RequestOutcome, SeenRequest,
};

use crate::fixture::{check, finished, host};
use crate::panel::{
    COMPLEX, SIMPLE, approve, ask, calls, council, of, once, report, requests, seat, seat_of,
    sub_chiefs, vote,
};

const CHIEFS: [&str; 3] = ["IT", "Data", "Ops"];

/// Asks a council of this server and checks what it leaves.
async fn decide(
    question: &str,
    params: &CouncilConfig,
    server: &ModelServer,
) -> (EpisodeResult, CouncilReport, Vec<String>) {
    let dir = tempfile::tempdir().expect("a folder");
    let host = host(dir.path());
    let handle = host
        .start(ask(question, params, server))
        .expect("it starts");
    let run = handle.run();
    let result = finished(handle).await;
    check(&host, run);
    let report = report(&result);
    let prompts = server.log();
    let prompts = prompts.iter().map(|entry| entry.seen.prompt.clone());
    (result, report, prompts.collect())
}

fn milli(milli: u16) -> PerMille {
    PerMille::new(milli).expect("a share")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c07_depth_0_sends_exactly_one_call_for_each_chief() {
    let server = ModelServer::start(approve).await.expect("a port");
    let params = CouncilConfig {
        depth_max: 0,
        ..council()
    };
    let (result, report, _) = decide(COMPLEX, &params, &server).await;
    assert_eq!(requests(&server), once(CHIEFS));
    assert!(report.complexity.complex);
    assert_eq!((report.depth, report.spawns), (0, 0));
    assert_eq!(result.status, EpisodeStatus::Ok);
    assert_eq!(result.budget.spent.calls, 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c02_a_simple_question_is_answered_by_each_chief_itself() {
    let server = ModelServer::start(approve).await.expect("a port");
    let (_, report, _) = decide(SIMPLE, &council(), &server).await;
    assert_eq!(requests(&server), once(CHIEFS));
    assert_eq!(report.vote, Some(Vote::Approve));
    assert_eq!(
        (report.confidence, report.agreement),
        (milli(800), PerMille::ALL)
    );
    assert!(!report.partial && !report.tied);
    let cast = of(&report, "Data").cast.as_ref().expect("a vote");
    assert_eq!(cast.reasoning, "secret-of-Data");
    let source = Some(SourceRef {
        source: "docs/Data.md".into(),
        line: 44,
    });
    assert_eq!(cast.source, source);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c02_only_the_touched_sub_chiefs_are_spawned_four_at_most() {
    let server = ModelServer::start(approve).await.expect("a port");
    let mut params = council();
    let subs = ["auth", "cluster", "latency", "considering", "move", "door"];
    params.chiefs[0].sub_chiefs = subs.map(|word| seat(&format!("of-{word}"), word)).to_vec();
    params.chiefs[1].sub_chiefs = vec![seat("schema", "database"), seat("archive", "tape")];
    params.chiefs[2].sub_chiefs = vec![seat("people", "holidays")];
    let (_, report, _) = decide(COMPLEX, &params, &server).await;
    let it = of(&report, "IT").children.iter();
    let it: Vec<String> = it.map(|sub| format!("IT/{}", sub.seat)).collect();
    assert_eq!(it.len(), 4);
    assert!(!it.contains(&"IT/of-door".to_owned()));
    let asked = it.iter().map(String::as_str);
    let asked = asked.chain(["Data/schema", "Ops"]);
    assert_eq!(requests(&server), once(asked), "Ops has nobody to ask");
    assert_eq!((report.depth, report.spawns), (1, 5));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c04_every_spawn_is_a_fresh_call_that_shares_no_words() {
    let server = ModelServer::start(approve).await.expect("a port");
    let (result, report, prompts) = decide(COMPLEX, &council(), &server).await;
    let asked = sub_chiefs();
    assert_eq!(requests(&server), once(asked.iter().map(String::as_str)));
    assert_eq!(result.budget.spent.calls, 9);
    assert_eq!((report.depth, report.spawns), (1, 9));
    for entry in server.log() {
        let messages = entry.seen.body["messages"].as_array().expect("messages");
        let roles: Vec<_> = messages.iter().map(|said| said["role"].as_str()).collect();
        assert_eq!(roles, [Some("system"), Some("user")]);
    }
    assert_eq!(prompts.len(), 9);
    for prompt in prompts {
        assert!(!prompt.contains("secret-of-"), "{prompt}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c03_each_sub_chief_receives_its_own_passages_and_no_others() {
    let server = ModelServer::start(approve).await.expect("a port");
    let params = council();
    decide(COMPLEX, &params, &server).await;
    let chiefs = params.chiefs.iter();
    let passages: BTreeMap<String, String> = chiefs
        .flat_map(|chief| {
            let subs = chief.sub_chiefs.iter();
            subs.map(move |sub| {
                let passage = &sub.passages[0];
                let (source, line, text) = (&passage.source, passage.line, &passage.text);
                let shown = format!("[1] {source}:{line}\n{text}");
                (format!("{}/{}", chief.id, sub.id), shown)
            })
        })
        .collect();
    assert_eq!(passages.len(), 9);
    for entry in server.log() {
        let own = seat_of(&entry.seen).expect("a seat");
        for (path, passage) in &passages {
            let has = entry.seen.prompt.contains(passage);
            assert_eq!(has, path == own, "{own} and the passage of {path}");
        }
        assert!(!entry.seen.prompt.contains("handbook says of everything"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c07_a_budget_of_three_calls_yields_a_partial_decision() {
    for question in [SIMPLE, COMPLEX] {
        let dir = tempfile::tempdir().expect("a folder");
        let server = ModelServer::start(approve).await.expect("a port");
        let host = host(dir.path());
        let mut new = ask(question, &council(), &server);
        new.budget.amounts = calls(3);
        let handle = host.start(new).expect("it starts");
        let run = handle.run();
        let result = finished(handle).await;
        let report = report(&result);
        let sent = server.log().len() as u64;
        assert!((1..=3).contains(&sent), "{sent} calls");
        assert_eq!(result.budget.spent.calls, sent);
        assert_eq!(result.status, EpisodeStatus::NeedsReview);
        let dimension = Dimension::Calls;
        assert_eq!(
            result.stop_reason,
            StopReason::BudgetExhausted { dimension }
        );
        assert!(report.partial);
        assert_eq!(report.vote, Some(Vote::Approve));
        let answer = result.answer.expect("a decision");
        assert!(answer.as_str().contains("(partial)"), "{answer:?}");
        let voted = report.votes.iter().filter(|seat| seat.cast.is_some());
        assert_eq!(voted.count() as u64, sent, "all who were paid for voted");
        let is_refused = |failure: &SeatFailure| matches!(failure, SeatFailure::Refused { .. });
        for seat in &report.votes {
            let refused = seat.failure.as_ref().is_some_and(is_refused);
            assert_eq!(refused, seat.cast.is_none(), "{seat:?}");
        }
        check(&host, run);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c07_a_council_deeper_than_three_is_refused_before_anything_is_written() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = ModelServer::start(approve).await.expect("a port");
    let host = host(dir.path());
    let params = CouncilConfig {
        depth_max: 4,
        ..council()
    };
    let refused = host.start(ask(COMPLEX, &params, &server)).err();
    match refused {
        Some(HostError::Program(ProgramError::Params { cause, .. })) => {
            assert!(cause.contains("hard cap of 3"), "{cause}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(host.runs(10).expect("a list").len(), 0);
    assert_eq!(server.log().len(), 0);
}

/// Every seat's odd calls are turned away for a second; one seat is dead, one never answers.
fn weather() -> impl Fn(&SeenRequest) -> ReplyBehaviour {
    let counts: Mutex<BTreeMap<String, u32>> = Mutex::default();
    move |seen: &SeenRequest| {
        let seat = seat_of(seen).expect("a seat");
        let mut counts = counts.lock().expect("no panic");
        let count = counts.entry(seat.to_owned()).or_default();
        *count += 1;
        match seat {
            "IT/network" => ReplyBehaviour::status(500),
            "Ops/people" => ReplyBehaviour::stall(),
            _ if *count % 2 == 1 => ReplyBehaviour::status(429).header("Retry-After", "1"),
            _ => approve(seen),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c08_a_decision_comes_by_the_deadline_through_429s_a_dead_seat_and_a_stalling_one() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = ModelServer::start(weather()).await.expect("a port");
    let host = host(dir.path());
    let mut new = ask(COMPLEX, &council(), &server);
    // The pauses between four attempts are 2.8 seconds at most, so the dead seat is given up well before the deadline.
    let deadline = Millis(6_000);
    new.budget.time = deadline;
    let handle = host.start(new).expect("it starts");
    let run = handle.run();
    let result = finished(handle).await;
    let report = report(&result);
    assert_eq!(result.stop_reason, StopReason::Success, "not cut off");
    assert!(result.budget.time_spent < deadline);
    assert_eq!(report.vote, Some(Vote::Approve));
    assert!(report.partial);
    let chiefs = report.votes.iter().flat_map(|chief| &chief.children);
    let failed: Vec<_> = chiefs.filter(|sub| sub.cast.is_none()).collect();
    let names: Vec<&str> = failed.iter().map(|sub| sub.seat.as_str()).collect();
    assert_eq!(names, ["network", "people"]);
    assert_eq!(
        of(&report, "Ops/people").failure,
        Some(SeatFailure::Late),
        "it stalls"
    );
    match &of(&report, "IT/network").failure {
        Some(SeatFailure::Call { failure, .. }) => assert_eq!(*failure, FailureKind::Server),
        other => panic!("{other:?}"),
    }
    assert_eq!(of(&report, "Ops").failure, None, "two of three voted");
    waited_as_told(&host, run);
    check(&host, run);
}

/// Whoever was told to wait goes out again no sooner than that.
fn waited_as_told(host: &Runtime, run: RunId) {
    let mut told = 0;
    for (episode, record) in host.records(run).expect("records") {
        let EventKind::ModelReplied {
            outcome: ModelCallOutcome::Failed(failure),
            ..
        } = &record.event.kind
        else {
            continue;
        };
        let Some(pause) = failure.retry_after else {
            continue;
        };
        let next = record.commands.iter().find_map(|command| match command {
            Command::CallModel { not_before, .. } => *not_before,
            _ => None,
        });
        let next = next.unwrap_or_else(|| panic!("{episode} does not try again"));
        assert!(
            next.since(record.event.at) >= pause,
            "{episode} tries too soon"
        );
        told += 1;
    }
    assert_eq!(told, 7, "all but the dead and the stalling one");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c05_a_reply_that_is_no_vote_and_a_call_that_fails_are_typed_failures() {
    let server = ModelServer::start(|seen: &SeenRequest| match seat_of(seen) {
        Some("IT/security") => ReplyBehaviour::reply("I would rather not say."),
        Some("IT/infrastructure") => ReplyBehaviour::status(401),
        Some("Data/schema") => ReplyBehaviour::html(),
        Some(path) if path.starts_with("Ops/") => ReplyBehaviour::status(403),
        _ => vote(seen, Vote::Reject, 60),
    })
    .await
    .expect("a port");
    let (result, report, _) = decide(COMPLEX, &council(), &server).await;
    assert_eq!(result.status, EpisodeStatus::Ok);
    assert_eq!(report.vote, Some(Vote::Reject));
    assert_eq!(report.confidence, milli(600), "failures weigh nothing");
    assert_eq!(report.agreement, PerMille::ALL);
    assert!(report.partial);
    let unreadable = SeatFailure::Unreadable(VoteError::NoVote);
    assert_eq!(of(&report, "IT/security").failure, Some(unreadable));
    let kind = |path: &str| match &of(&report, path).failure {
        Some(SeatFailure::Call { failure, .. }) => *failure,
        other => panic!("{path}: {other:?}"),
    };
    assert_eq!(kind("IT/infrastructure"), FailureKind::Auth);
    assert_eq!(kind("Data/schema"), FailureKind::Malformed);
    assert_eq!(of(&report, "Ops").failure, Some(SeatFailure::NoVotes));
    assert_eq!(report.votes.len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c05_measured_confidence_is_the_share_of_votes_that_are_asked_for_at_once() {
    let gate = ChunkGate::new();
    let held = gate.clone();
    let counts: Mutex<BTreeMap<String, u32>> = Mutex::default();
    let server = ModelServer::start(move |seen: &SeenRequest| {
        let seat = seat_of(seen).expect("a seat").to_owned();
        let mut counts = counts.lock().expect("no panic");
        let count = counts.entry(seat).or_default();
        *count += 1;
        let drawn = match *count {
            1..=3 => vote(seen, Vote::Approve, 100),
            4 => vote(seen, Vote::Reject, 100),
            _ => ReplyBehaviour::reply("Perhaps."),
        };
        drawn.gated(&held)
    })
    .await
    .expect("a port");
    let dir = tempfile::tempdir().expect("a folder");
    let host = host(dir.path());
    let params = CouncilConfig {
        confidence: ConfidenceSource::Measured {
            samples: 5,
            temperature_milli: 900,
        },
        ..council()
    };
    let handle = host
        .start(ask(SIMPLE, &params, &server))
        .expect("it starts");
    let run = handle.run();
    server.until(|log| log.len() == 15).await;
    gate.open();
    let result = finished(handle).await;
    let report = report(&result);
    assert_eq!(server.log().len(), 15, "five for each chief, all at once");
    for seat in &report.votes {
        let samples = SampledVotes {
            approve: 3,
            reject: 1,
            abstain: 0,
            failed: 1,
        };
        assert_eq!(seat.samples, Some(samples));
        let cast = seat.cast.as_ref().expect("a vote");
        assert_eq!((cast.vote, cast.confidence), (Vote::Approve, milli(750)));
    }
    for entry in server.log() {
        let temperature = entry.seen.body["temperature"].as_f64().expect("it is said");
        assert!((temperature - 0.9).abs() < 1e-6, "{temperature}");
    }
    check(&host, run);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c06_a_model_may_put_the_words_together_but_the_vote_stays() {
    let server = ModelServer::start(|seen: &SeenRequest| match seat_of(seen) {
        None => ReplyBehaviour::reply("VOTE: REJECT. They all say no."),
        Some("IT/security") => vote(seen, Vote::Reject, 90),
        Some(_) => approve(seen),
    })
    .await
    .expect("a port");
    let params = CouncilConfig {
        synthesis: SynthesisMode::Model,
        ..council()
    };
    let (result, report, prompts) = decide(COMPLEX, &params, &server).await;
    assert_eq!(prompts.len(), 13);
    assert_eq!(result.budget.spent.calls, 13);
    assert_eq!(report.vote, Some(Vote::Approve));
    assert_eq!(report.dissent, ["IT/security"]);
    assert_eq!(report.reasoning, "VOTE: REJECT. They all say no.");
    let it = of(&report, "IT").cast.as_ref().expect("a vote");
    assert_eq!(it.vote, Vote::Approve);
    assert_eq!(it.reasoning, report.reasoning);
}

/// A council of which Data's sub-chiefs are held by a gate.
async fn held(gate: &ChunkGate) -> ModelServer {
    let gate = gate.clone();
    let behave = move |seen: &SeenRequest| {
        let path = seat_of(seen).expect("a seat");
        let vote = approve(seen);
        if path.starts_with("Data/") {
            vote.gated(&gate)
        } else {
            vote
        }
    };
    ModelServer::start(behave).await.expect("a port")
}

/// Waits until all but the held ones have voted and those are out.
async fn midway(handle: &RunHandle, server: &ModelServer) {
    server.until(|log| log.len() == 9).await;
    let two_chiefs_done = |story: &fathom_host::view::run::RunView| {
        let chapters = story.chapters.values();
        chapters.filter(|chapter| chapter.result.is_some()).count() == 8
    };
    let mut watch = handle.watch();
    watch.wait_for(two_chiefs_done).await.expect("it is driven");
}

/// Takes the run over and finishes it: no finished call is repeated.
async fn go_on(home: &Path, run: RunId, gate: &ChunkGate, server: &ModelServer) {
    let host = host(home);
    gate.open();
    let result = finished(host.resume(run).expect("it resumes")).await;
    let report = report(&result);
    assert_eq!(result.status, EpisodeStatus::Ok);
    assert_eq!(report.vote, Some(Vote::Approve));
    assert!(!report.partial, "{report:?}");
    assert_eq!(report.votes.len(), 3);
    for (path, count) in requests(server) {
        let expected = if path.starts_with("Data/") { 2 } else { 1 };
        assert_eq!(count, expected, "{path}");
    }
    check(&host, run);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x04_an_interrupted_council_resumes_without_repeating_a_finished_call() {
    let dir = tempfile::tempdir().expect("a folder");
    let gate = ChunkGate::new();
    let server = held(&gate).await;
    let host_one = host(dir.path());
    let handle = host_one
        .start(ask(COMPLEX, &council(), &server))
        .expect("it starts");
    let run = handle.run();
    midway(&handle, &server).await;
    handle.interrupt();
    assert!(matches!(handle.end().await, RunEnd::Interrupted));
    drop(host_one);
    go_on(dir.path(), run, &gate, &server).await;
}

/// The runtime that drives the council is torn down under it: nothing is said in farewell.
#[test]
fn x04_a_killed_council_resumes_without_repeating_a_finished_call() {
    let dir = tempfile::tempdir().expect("a folder");
    let runtime = || tokio::runtime::Runtime::new().expect("a runtime");
    let (outside, doomed) = (runtime(), runtime());
    let gate = ChunkGate::new();
    let server = outside.block_on(held(&gate));
    let run = doomed.block_on(async {
        let host = host(dir.path());
        let handle = host
            .start(ask(COMPLEX, &council(), &server))
            .expect("it starts");
        midway(&handle, &server).await;
        handle.run()
    });
    drop(doomed);
    outside.block_on(async {
        let gone = |log: &[fathom_testkit::model_server::RequestEntry]| {
            let left = log
                .iter()
                .filter(|entry| entry.outcome == RequestOutcome::ClientGone);
            left.count() == 3
        };
        server.until(gone).await;
        go_on(dir.path(), run, &gate, &server).await;
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x04_a_cancelled_council_keeps_its_partial_decision() {
    let dir = tempfile::tempdir().expect("a folder");
    let gate = ChunkGate::new();
    let server = held(&gate).await;
    let host = host(dir.path());
    let handle = host
        .start(ask(COMPLEX, &council(), &server))
        .expect("it starts");
    let run = handle.run();
    midway(&handle, &server).await;
    assert!(host.cancel(run).expect("it can be asked").is_none());
    let result = finished(handle).await;
    assert_eq!(result.stop_reason, StopReason::Cancelled);
    let report = report(&result);
    assert_eq!(report.vote, Some(Vote::Approve));
    assert!(report.partial);
    assert_eq!(of(&report, "Data").failure, Some(SeatFailure::Late));
    let answer = result.answer.expect("what was decided so far");
    assert!(answer.as_str().contains("(partial)"), "{answer:?}");
    assert_eq!(server.log().len(), 9, "nothing more was sent");
    check(&host, run);
}
