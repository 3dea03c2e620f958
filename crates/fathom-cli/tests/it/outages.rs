//! A model that cannot be reached, and runs that wait for it.

use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fathom_testkit::model_server::{
    ChunkGate, ModelServer, ReplyBehaviour, SeenRequest, ServerSetup,
};
use serde_json::json;

use crate::session::{Done, Session};

#[test]
fn x05_a_server_that_is_down_exits_with_five_and_the_run_resumes() {
    let session = Session::new();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    // A port that nobody listens on: taken and given back.
    let server = runtime
        .block_on(ModelServer::replying("back again"))
        .expect("a free port");
    let url = server.openai_url();
    let port = server.address().port();
    drop(server);
    let model = ["--model", "openai/any", "--base-url", &url, "--json"];
    let with = |words: &[&str]| {
        words
            .iter()
            .chain(&model)
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    let run = |words: &[&str]| {
        let words = with(words);
        session.run(&words.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let done = run(&["ask", "q"]);
    let error = done.exits(5).json();
    assert_eq!(error["error"]["code"], "F0390");
    let id = error["run"].as_str().expect("a run").to_owned();
    done.says("fathom resume ");
    let listed = session.run(&["runs", "--json"]).json();
    assert_eq!(listed["runs"][0]["status"], "outage");
    run(&["doctor"]).exits(5);

    let setup = ServerSetup {
        port,
        ..ServerSetup::default()
    };
    let server = ModelServer::with(|_: &SeenRequest| ReplyBehaviour::reply("back again"), setup);
    let server = runtime.block_on(server).expect("the port is free again");
    let result = session.run(&["resume", &id, "--json"]).exits(0).json();
    assert_eq!(result["results"][0]["answer"], "back again");
    assert_eq!(server.log().len(), 1);
    let shown = session.run(&["show", &id]);
    shown.exits(0).prints("1 resume");
}

/// A run that was let go of, in a home whose script is `answers.jsonl`.
fn let_go() -> (Session, String) {
    let session =
        Session::scripted(&[json!({"error": {"status": 401, "message": "who are you?"}})]);
    let done = session.ask(&["the first question", "--json"]);
    let run = done.exits(5).json()["run"]
        .as_str()
        .expect("a run")
        .to_owned();
    (session, run)
}

/// A server that turns the first question away until it is told to `mend`, and holds the second back.
struct Hospital {
    runtime: tokio::runtime::Runtime,
    server: ModelServer,
    is_mended: Arc<AtomicBool>,
    second: ChunkGate,
}

impl Hospital {
    fn open(mended: ReplyBehaviour) -> Self {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let is_mended = Arc::new(AtomicBool::new(false));
        let second = ChunkGate::new();
        let (flag, gate) = (Arc::clone(&is_mended), second.clone());
        let server = ModelServer::start(move |seen: &SeenRequest| {
            if seen.prompt.contains("second") {
                ReplyBehaviour::reply("answer").gated(&gate)
            } else if flag.load(Ordering::SeqCst) {
                mended.clone()
            } else {
                ReplyBehaviour::status(401)
            }
        });
        let server = runtime.block_on(server).expect("a free port");
        Self {
            runtime,
            server,
            is_mended,
            second,
        }
    }

    fn command(&self, session: &Session, words: &[&str]) -> Command {
        let mut command = session.command(words);
        command
            .args([
                "--model",
                "openai/any",
                "--base-url",
                &self.server.openai_url(),
            ])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Leaves one run unfinished, then begins another beside which it goes on.
    fn second_beside_first(&self, session: &Session) -> (String, Child) {
        let first = self
            .command(session, &["ask", "the first question", "--json"])
            .output();
        let first = Done::from(first.expect("it starts"));
        let run = first.exits(5).json()["run"]
            .as_str()
            .expect("a run")
            .to_owned();
        self.is_mended.store(true, Ordering::SeqCst);
        let second = self
            .command(session, &["ask", "the second question"])
            .spawn();
        (run, second.expect("it starts"))
    }

    /// Waits until both runs have called.
    fn until_both_called(&self) {
        self.runtime
            .block_on(self.server.until(|log| log.len() >= 3));
    }

    fn answer_second(&self, child: Child) -> Done {
        self.second.open();
        Done::from(child.wait_with_output().expect("it ends"))
    }
}

fn status(session: &Session, run: &str) -> String {
    let shown = session.run(&["show", run, "--json"]).json();
    shown["status"].as_str().expect("a word").to_owned()
}

#[test]
fn x04_ask_resumes_what_is_unfinished_beside_it() {
    let session = Session::new();
    let hospital = Hospital::open(ReplyBehaviour::reply("late answer"));
    let (run, second) = hospital.second_beside_first(&session);
    let is_over = (0..1000).any(|_| status(&session, &run) == "ok");
    assert!(is_over, "the run beside did not go on");
    let done = hospital.answer_second(second);
    assert_eq!(done.exits(0).stdout, "answer\n");
    done.says("1 unfinished run resumed in the background");
    let shown = session.run(&["show", &run, "--json"]).json();
    assert_eq!(shown["result"]["answer"], "late answer");
}

#[test]
fn x04_what_fails_beside_never_changes_the_exit_code() {
    let session = Session::new();
    let hospital = Hospital::open(ReplyBehaviour::status(403));
    let (run, second) = hospital.second_beside_first(&session);
    hospital.until_both_called();
    hospital.answer_second(second).exits(0);
    assert!(["outage", "interrupted"].contains(&status(&session, &run).as_str()));

    let mut alone = hospital.command(&session, &["ask", "a second question", "--no-resume"]);
    let alone = Done::from(alone.output().expect("it starts"));
    alone.exits(0);
    assert!(!alone.stderr.contains("resumed"), "{}", alone.stderr);
}

#[test]
fn x04_runs_beside_are_let_go_when_the_answer_is_there() {
    let session = Session::new();
    let hospital = Hospital::open(ReplyBehaviour::stall());
    let (run, second) = hospital.second_beside_first(&session);
    hospital.until_both_called();
    let done = hospital.answer_second(second);
    assert_eq!(done.exits(0).stdout, "answer\n");
    assert_eq!(status(&session, &run), "interrupted");
}

#[test]
fn x04_resume_without_a_name_takes_all() {
    let (session, run) = let_go();
    session.script("answers.jsonl", &[json!({"reply": "now", "times": 9})]);
    let json = session.run(&["resume", "--json"]).exits(0).json();
    assert_eq!(json["results"][0]["run"], run.as_str());
    assert_eq!(json["results"][0]["answer"], "now");
    session.run(&["resume"]).exits(0).says("no unfinished runs");
}

#[test]
fn x04_the_answer_of_the_only_resumed_run_goes_to_stdout() {
    let (session, _) = let_go();
    session.script("answers.jsonl", &[json!({"reply": "now"})]);
    assert_eq!(session.run(&["resume"]).exits(0).stdout, "now\n");
}

#[test]
fn e05_cancel_ends_a_run_that_nobody_works_on() {
    let (session, run) = let_go();
    let result = session.run(&["cancel", &run, "--json"]).exits(0).json();
    assert_eq!(result["run"], run.as_str());
    assert_eq!(result["status"], "failed");
    assert_eq!(result["stop_reason"], "cancelled");
    session.run(&["cancel", &run]).fails(4, "F0404");
}

/// What its model would need, a key or a file, is gone: that keeps it from going on, not from its end.
#[test]
fn e05_cancel_ends_a_run_whose_model_is_gone() {
    let (session, run) = let_go();
    std::fs::remove_file(session.path().join("answers.jsonl")).expect("the script");
    session.run(&["resume", &run]).exits(2);
    let result = session.run(&["cancel", &run, "--json"]).exits(0).json();
    assert_eq!(result["stop_reason"], "cancelled");
}

#[test]
fn x01_a_reader_that_goes_away_is_no_error() {
    let session = Session::scripted(&[json!({"reply": "x".repeat(100_000)})]);
    let mut child = session
        .command(&["ask", "q", "--model", "script/answers.jsonl"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    drop(child.stdout.take());
    let done = Done::from(child.wait_with_output().expect("it ends"));
    done.exits(0);
    assert!(!done.stderr.contains("error"), "{}", done.stderr);
}
