//! The binary, killed with SIGKILL at random moments: nothing durable is lost, nothing is paid for twice unseen.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use fathom_core::id::RunId;
use fathom_core::journal::command::Command as Wanted;
use fathom_core::journal::event::{EventKind, ModelCallOutcome};
use fathom_host::{Runtime, RuntimeOptions};
use fathom_testkit::model_server::{
    FinishCode, ModelServer, ReplyBehaviour, ReportedUsage, SeenRequest,
};
use serde_json::Value;
use tokio::process::Child;

use crate::session::fathom;

/// Pieces of the answer, each a model call of its own.
const PIECES: usize = 6;
const CALLS_MAX: u64 = 60;
const TOKENS_MAX: u64 = 60_000;
/// What the server bills for each reply.
const USAGE: (u64, u64) = (30, 9);
/// Kills that one run has to live through; each may cost it a lease.
const KILLS_A_RUN: u32 = 4;

#[expect(
    clippy::disallowed_methods,
    reason = "the soak run asks for more through this variable"
)]
pub(crate) fn kills_wanted(here: u32, soak: u32) -> u32 {
    if std::env::var_os("FATHOM_SOAK").is_some() {
        soak
    } else {
        here
    }
}

/// A small generator, so that a failing run can be told by its seed.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Which call this is: the question it belongs to and how much of the answer was there already.
fn call_of(prompt: &str) -> (String, usize) {
    let question = prompt
        .split_whitespace()
        .find(|word| word.starts_with("question-"))
        .unwrap_or_default();
    (question.to_owned(), prompt.matches("piece-").count())
}

async fn server() -> ModelServer {
    ModelServer::start(|seen: &SeenRequest| {
        let (_, pieces) = call_of(&seen.prompt);
        let (input, output) = USAGE;
        let finish = if pieces + 1 == PIECES {
            FinishCode::Stop
        } else {
            FinishCode::Length
        };
        ReplyBehaviour::reply(format!("piece-{pieces} "))
            .finish(finish)
            .usage(ReportedUsage::Says { input, output })
            .after(Duration::from_millis(4))
    })
    .await
    .expect("a free port")
}

/// Waits for the process, at most for `patience`; then it is killed. Gives its output when it came to its end.
pub(crate) async fn end_or_kill(mut child: Child, patience: Duration) -> Option<Value> {
    if tokio::time::timeout(patience, child.wait()).await.is_err() {
        child.kill().await.expect("it can be killed");
        return None;
    }
    let output = child.wait_with_output().await.expect("it ended");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{}\n{text}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    Some(serde_json::from_str(&text).expect("one JSON object"))
}

fn open(home: &Path) -> Runtime {
    Runtime::open(RuntimeOptions::new(home.to_owned(), |_| None)).expect("the home opens")
}

/// The calls of a run whose replies are durable.
fn durable_replies(host: &Runtime, run: RunId) -> Vec<(String, usize)> {
    let records = host.records(run).expect("the run can be read");
    let mut sent = BTreeMap::new();
    let mut replied = Vec::new();
    for (episode, record) in records {
        if let EventKind::ModelReplied {
            ask,
            outcome: ModelCallOutcome::Replied(_),
            ..
        } = &record.event.kind
        {
            replied.push(sent[&(episode.clone(), *ask)]);
        }
        for command in &record.commands {
            if let Wanted::CallModel { ask, request, .. } = command {
                let texts = request.messages.iter().map(|message| message.text.as_str());
                let call = call_of(&texts.collect::<Vec<_>>().join("\n"));
                sent.insert((episode.clone(), *ask), call.1);
            }
        }
    }
    let question = host.story(run).expect("it has a story");
    let goal = question.root().expect("it has a root").started.goal.clone();
    let (question, _) = call_of(goal.as_str());
    replied
        .into_iter()
        .map(|pieces| (question.clone(), pieces))
        .collect()
}

fn requests(server: &ModelServer) -> BTreeMap<(String, usize), usize> {
    let mut counts = BTreeMap::new();
    for entry in server.log() {
        *counts.entry(call_of(&entry.seen.prompt)).or_default() += 1;
    }
    counts
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x04_kill_nine_at_random_moments_loses_nothing() {
    let dir = tempfile::tempdir().expect("a folder");
    let home = dir.path();
    let server = server().await;
    let mut dice = Dice(0x5eed);
    let (mut kills, mut question) = (0, 0);
    while kills < kills_wanted(30, 1_000) {
        question += 1;
        let asked = format!("question-{question} in pieces");
        let budget = format!("calls={CALLS_MAX},tokens={TOKENS_MAX}");
        let ask = [
            "ask",
            &asked,
            "--no-resume",
            "--budget",
            &budget,
            "--max-output",
            "20",
        ];
        let mut child = fathom(home, &server, &ask);
        let mut kept: BTreeMap<(String, usize), usize> = BTreeMap::new();
        let mut kills_here = 0;
        let result = loop {
            let patience = if kills_here < KILLS_A_RUN {
                Duration::from_micros(dice.below(90_000))
            } else {
                Duration::from_mins(1)
            };
            if let Some(result) = end_or_kill(child, patience).await {
                break Some(result);
            }
            kills += 1;
            kills_here += 1;
            let host = open(home);
            let unfinished = host.unfinished().expect("the list can be read");
            let Some(&run) = unfinished.first() else {
                // It was killed before it wrote its first record, or right after its last.
                break None;
            };
            let counts = requests(&server);
            for call in durable_replies(&host, run) {
                kept.insert(call.clone(), counts[&call]);
            }
            child = fathom(home, &server, &["resume", &run.to_string()]);
        };
        let counts = requests(&server);
        for (call, count) in kept {
            assert_eq!(counts[&call], count, "{call:?} was asked for again");
        }
        let name = format!("question-{question}");
        let sent: usize = counts
            .iter()
            .filter(|((q, _), _)| *q == name)
            .map(|(_, n)| n)
            .sum();
        let sent = sent as u64;
        assert!(sent <= CALLS_MAX, "{sent} calls for {name}");
        assert!(
            sent * (USAGE.0 + USAGE.1) <= TOKENS_MAX,
            "{sent} calls for {name}"
        );
        if let Some(result) = result {
            check_result(&result, sent);
        }
    }
    check_home(home, &server).await;
}

fn check_result(result: &Value, sent: u64) {
    // `resume` answers with a list, `ask` with one result.
    let result = result.get("results").map_or(result, |results| &results[0]);
    assert_eq!(result["status"], "ok", "{result:#}");
    let expected: Vec<String> = (0..PIECES).map(|piece| format!("piece-{piece}")).collect();
    let answer = result["answer"].as_str().expect("an answer");
    assert_eq!(answer.trim(), expected.join(" "));
    let booked = result["budget"]["calls"]["spent"]
        .as_u64()
        .expect("a number");
    assert!(
        booked >= sent,
        "{booked} calls in the books, {sent} on the wire"
    );
    assert!(booked <= CALLS_MAX);
}

/// The whole home verifies, and every run of it replays to the same commands with no model called.
pub(crate) async fn check_home(home: &Path, server: &ModelServer) {
    let before = server.log().len();
    let verified = end_or_kill(fathom(home, server, &["verify"]), Duration::from_mins(1)).await;
    let verified = verified.expect("it came to its end");
    assert_eq!(verified["ok"], true, "{verified:#}");
    let host = open(home);
    let runs = host.runs(10_000).expect("the list can be read");
    for info in runs.iter().filter(|info| info.events > 0) {
        let replay = host.replay(info.run).expect("it replays");
        assert_eq!(replay.differences.len(), 0, "{}", info.run);
        assert_eq!(replay.events, info.events);
        assert_eq!(replay.model_calls, 0);
    }
    assert_eq!(server.log().len(), before, "a replay called a model");
}
