//! `ask`: answers, exit codes and the result object.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::session::{Done, Session};

const KEYS: [&str; 16] = [
    "run",
    "program",
    "status",
    "stop_reason",
    "summary",
    "answer",
    "artifacts_created",
    "decisions",
    "verification_needed",
    "next_actions",
    "budget",
    "episodes",
    "depth",
    "model_calls",
    "elapsed_ms",
    "warnings",
];

fn one_answer() -> Session {
    Session::scripted(&[json!({"reply": "forty-two", "times": 9})])
}

#[test]
fn x01_the_answer_is_on_stdout_and_all_else_on_stderr() {
    let done = one_answer();
    let done = done.ask(&["what is it?"]);
    done.exits(0);
    assert_eq!(done.stdout, "forty-two\n");
    let lines: Vec<&str> = done.stderr.lines().collect();
    assert_eq!(lines.len(), 7, "{}", done.stderr);
    assert!(lines[0].ends_with("started direct with script/answers.jsonl"));
    assert!(lines[1].contains("finished ok"));
    assert_eq!(lines[2], "what is it?");
    assert!(lines[3].starts_with("direct  ok"), "the tree");
    assert!(lines[5].starts_with("budget  tokens"));
    assert!(lines[6].starts_with("record  fathom show "));
    assert!(!done.stderr.contains('\u{1b}'), "no colour in a pipe");
}

#[test]
fn x01_quiet_says_nothing_and_verbose_tells_the_records() {
    let session = one_answer();
    let quiet = session.ask(&["q", "--quiet"]);
    assert_eq!(
        (quiet.stdout.as_str(), quiet.stderr.as_str()),
        ("forty-two\n", "")
    );
    session
        .ask(&["q", "-v"])
        .exits(0)
        .says("model_replied")
        .says("0:0 ");
}

#[test]
fn e08_json_is_one_object_with_every_key() {
    let done = one_answer();
    let done = done.ask(&[
        "what is it?",
        "--json",
        "--budget",
        "tokens=5000,cost=0.5,time=30s",
    ]);
    done.exits(0);
    assert_eq!(done.stdout.lines().count(), 1);
    let result = done.json();
    for key in KEYS {
        assert!(result.get(key).is_some(), "`{key}` is missing");
    }
    assert_eq!(result["status"], "ok");
    assert_eq!(result["stop_reason"], "success");
    assert_eq!(result["answer"], "forty-two");
    assert_eq!(result["episodes"], 1);
    assert_eq!(result["model_calls"], 1);
    assert!((3..=8).contains(&result["summary"].as_str().expect("text").lines().count()));
    for dimension in ["tokens", "calls", "tools", "time", "cost", "episodes"] {
        let figures = &result["budget"][dimension];
        assert!(
            figures["limit"].is_number() && figures["spent"].is_number(),
            "{figures}"
        );
    }
    assert_eq!(result["budget"]["tokens"]["limit"], 5000);
    assert_eq!(result["budget"]["cost"]["limit"], 0.5);
    assert_eq!(result["budget"]["time"]["limit"], 30_000);
}

fn with_stdin(session: &Session, arguments: &[&str], stdin: &[u8]) -> Done {
    let mut child = session
        .command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut pipe = child.stdin.take().expect("a pipe");
    pipe.write_all(stdin).expect("it reads");
    drop(pipe);
    Done::from(child.wait_with_output().expect("it ends"))
}

#[test]
fn x01_the_question_comes_from_stdin() {
    let session = one_answer();
    let model = ["--model", "script/answers.jsonl", "--json"];
    for question in [&["ask", "-"][..], &["ask"]] {
        let arguments: Vec<&str> = question.iter().chain(&model).copied().collect();
        let done = with_stdin(&session, &arguments, b"from a pipe\n");
        let summary = done.exits(0).json()["summary"].clone();
        assert!(
            summary
                .as_str()
                .expect("text")
                .contains("asked: from a pipe")
        );
    }
    let arguments: Vec<&str> = ["ask"].iter().chain(&model).copied().collect();
    assert_eq!(
        with_stdin(&session, &arguments, b" \n").exits(2).json()["error"]["code"],
        "F0105"
    );
    assert_eq!(
        with_stdin(&session, &arguments, b"\xff").exits(2).json()["error"]["code"],
        "F0122"
    );
}

#[test]
fn x01_context_reaches_the_model_with_its_source() {
    let session = Session::scripted(&[
        json!({"match": "docs/a.md[\\s\\S]*alpha[\\s\\S]*--- stdin[\\s\\S]*piped[\\s\\S]*compare", "reply": "seen"}),
    ]);
    session.write("docs/a.md", "alpha");
    session.write("docs/b.bin", "\0");
    let arguments = [
        "ask",
        "compare",
        "--context",
        "docs",
        "-",
        "--json",
        "--model",
        "script/answers.jsonl",
    ];
    let done = with_stdin(&session, &arguments, b"piped");
    let result = done.exits(0).json();
    assert_eq!(result["answer"], "seen");
    assert!(
        result["warnings"][0]
            .as_str()
            .expect("text")
            .contains("b.bin")
    );
    done.says("warning: ");
}

#[test]
fn x01_system_and_output_cap_reach_the_model() {
    let session = Session::scripted(&[json!({"match": "speak like a pilot", "reply": "roger"})]);
    let done = session.ask(&[
        "q",
        "--system",
        "speak like a pilot",
        "--max-output",
        "16",
        "--no-stream",
    ]);
    assert_eq!(done.exits(0).stdout, "roger\n");
}

#[test]
fn e04_a_review_is_a_child_that_judges() {
    let session = Session::scripted(&[
        json!({"match": "judge an answer", "reply": "PASS it is kind"}),
        json!({"reply": "a kind answer"}),
    ]);
    session.write("rubric.txt", "be kind");
    let result = session.ask(&["q", "--review", "@rubric.txt", "--json"]);
    let result = result.exits(0).says("0.0  started critique").json();
    assert_eq!(result["episodes"], 2);
    assert_eq!(result["depth"], 1);
    assert_eq!(result["decisions"][0]["what"], "review passed");
}

#[test]
fn e05_a_review_that_fails_needs_a_person() {
    let session = Session::scripted(&[
        json!({"match": "judge an answer", "reply": "FAIL it is rude", "times": 9}),
        json!({"reply": "a rude answer", "times": 9}),
    ]);
    let done = session.ask(&["q", "--review", "be kind", "--json"]);
    let result = done.exits(3).json();
    assert_eq!(result["status"], "needs_review");
    assert_eq!(result["stop_reason"], "review_failed");
    assert_eq!(result["answer"], "a rude answer");
    assert_eq!(result["next_actions"][0]["kind"], "handoff");
}

#[test]
fn e07_a_budget_too_small_needs_review_and_says_which() {
    let session = one_answer();
    let done = session.ask(&["q", "--json", "--budget", "tokens=20"]);
    let result = done.exits(3).json();
    assert_eq!(result["stop_reason"], "budget_exhausted");
    assert_eq!(result["stop_detail"]["dimension"], "tokens");
    assert_eq!(result["answer"], Value::Null);
    session
        .ask(&["q", "--quiet", "--budget", "calls=0"])
        .exits(3)
        .says("needs review: budget exhausted: calls")
        .says("review  ");
}

#[test]
fn e05_a_run_that_fails_exits_with_four() {
    let session = Session::scripted(&[json!({"reply": "", "times": 9})]);
    let done = session.ask(&["q", "--json"]);
    let result = done.exits(4).json();
    assert_eq!(result["status"], "failed");
    assert_eq!(result["stop_reason"], "repeated_failure");
    session.ask(&["q", "--quiet"]).exits(4).says("failed: ");
}

#[test]
fn x01_a_retry_is_told_in_a_pipe() {
    let session = Session::scripted(&[
        json!({"error": {"status": 429, "retry_after_s": 0.2}}),
        json!({"reply": "at last"}),
    ]);
    let done = session.ask(&["q"]);
    assert_eq!(done.exits(0).stdout, "at last\n");
    done.says("retry 2 in 0.").says("(rate limited)");
}

#[test]
fn x01_the_model_comes_from_variable_and_file() {
    let session = one_answer();
    let mut command = session.command(&["ask", "q"]);
    let done = Done::from(
        command
            .env("FATHOM_MODEL", "script/answers.jsonl")
            .output()
            .expect("it starts"),
    );
    assert_eq!(done.exits(0).stdout, "forty-two\n");
    session.write(
        "fathom.toml",
        "model = \"script/answers.jsonl\"\nhome = \"here\"\n",
    );
    let done = session.run(&["ask", "q"]);
    assert_eq!(done.exits(0).stdout, "forty-two\n");
    assert!(session.path().join("here").is_dir());
}

#[test]
fn x08_control_characters_stay_out_of_stderr_and_whole_in_a_pipe() {
    let session = Session::scripted(&[
        json!({"match": "judge an answer", "reply": "PASS \u{1b}[31mred"}),
        json!({"reply": "an \u{1b}[31manswer"}),
    ]);
    let done = session.ask(&["\u{1b}[2Jclear", "--review", "r", "-v"]);
    assert_eq!(done.exits(0).stdout, "an \u{1b}[31manswer\n");
    assert!(!done.stderr.contains('\u{1b}'), "{:?}", done.stderr);
}
