//! Two processes on one home: a live run belongs to its owner alone, and a signal reaches it.

use std::process::Output;

use fathom_host::{Runtime, RuntimeOptions};
use fathom_testkit::model_server::{FinishCode, ModelServer, ReplyBehaviour, SeenRequest};
use serde_json::Value;
use tokio::process::{Child, Command};

use crate::session::fathom;

/// Answers everything but what says `wait`, which stalls.
async fn server() -> ModelServer {
    ModelServer::start(|seen: &SeenRequest| {
        if seen.prompt.contains("wait") {
            ReplyBehaviour::stall()
        } else {
            ReplyBehaviour::reply("done").finish(FinishCode::Stop)
        }
    })
    .await
    .expect("a free port")
}

async fn output(child: Child) -> Output {
    child.wait_with_output().await.expect("it ended")
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!(
            "{error}: {}\n{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "a signal is sent as a person would send it"
)]
async fn interrupt(child: &Child) {
    let id = child.id().expect("it runs").to_string();
    let status = Command::new("kill").args(["-INT", &id]).status().await;
    assert!(status.expect("kill runs").success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x04_a_second_process_never_touches_a_live_run_and_cancel_reaches_it() {
    let dir = tempfile::tempdir().expect("a folder");
    let server = server().await;
    let waiting = fathom(dir.path(), &server, &["ask", "please wait"]);
    server.until(|log| log.len() == 1).await;

    let second = output(fathom(dir.path(), &server, &["ask", "be quick"])).await;
    assert_eq!(json(&second)["answer"], "done");
    assert_eq!(server.log().len(), 2, "the live run was touched");

    let host =
        Runtime::open(RuntimeOptions::new(dir.path().to_owned(), |_| None)).expect("it opens");
    let runs = host.runs(10).expect("the list can be read");
    let live = runs
        .iter()
        .find(|info| !info.state.is_finished())
        .expect("one is live")
        .run;
    assert!(host.is_owned(live));
    let resumed = output(fathom(dir.path(), &server, &["resume", &live.to_string()])).await;
    assert_eq!(json(&resumed)["error"]["code"], "F0403");

    let cancelled = output(fathom(dir.path(), &server, &["cancel", &live.to_string()])).await;
    assert!(cancelled.status.code().is_some());
    let ended = output(waiting).await;
    assert_eq!(
        ended.status.code(),
        Some(4),
        "{}",
        String::from_utf8_lossy(&ended.stderr)
    );
    let result = json(&ended);
    assert_eq!(result["status"], "failed");
    assert!(
        result["stop_reason"].to_string().contains("cancelled"),
        "{result}"
    );
    assert_eq!(server.log().len(), 2, "a cancelled run called again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x04_an_interrupted_run_says_how_to_resume_and_does() {
    let dir = tempfile::tempdir().expect("a folder");
    let gate = fathom_testkit::model_server::ChunkGate::new();
    let held = gate.clone();
    let server =
        ModelServer::start(move |_: &SeenRequest| ReplyBehaviour::reply("done").gated(&held))
            .await
            .expect("a free port");
    let child = fathom(dir.path(), &server, &["ask", "take your time"]);
    server.until(|log| log.len() == 1).await;
    interrupt(&child).await;
    let interrupted = output(child).await;
    assert_eq!(interrupted.status.code(), Some(130));
    let said = String::from_utf8_lossy(&interrupted.stderr).into_owned();
    assert!(said.contains("fathom resume "), "{said}");
    gate.open();
    let resumed = output(fathom(dir.path(), &server, &["resume"])).await;
    assert_eq!(resumed.status.code(), Some(0));
    assert_eq!(json(&resumed)["results"][0]["answer"], "done");
    assert_eq!(server.log().len(), 2, "one call was given up, one answered");
}
