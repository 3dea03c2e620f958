//! What is left of a run: list, tree, replay, fork, verification, figures, shredding.

use serde_json::{Value, json};

use crate::session::Session;

/// A home with one reviewed run in it.
fn reviewed() -> (Session, String) {
    let session = Session::scripted(&[
        json!({"match": "judge an answer", "reply": "PASS fine", "times": 9}),
        json!({"reply": "an answer", "times": 9}),
    ]);
    session
        .ask(&["why is it so?", "--review", "be kind"])
        .exits(0);
    let run = session.newest();
    (session, run)
}

#[test]
fn x01_runs_lists_them_newest_first() {
    let (session, run) = reviewed();
    session.ask(&["a second question"]).exits(0);
    let done = session.run(&["runs"]);
    let lines: Vec<&str> = done.exits(0).stdout.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[1].contains("a second question") && lines[2].contains("why is it so?"));
    assert!(run.starts_with(lines[2].split(' ').next().expect("an id")));
    let json = session.run(&["runs", "--limit", "1", "--json"]).json();
    let runs = json["runs"].as_array().expect("a list");
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0]["status"], "ok");
    assert_eq!(runs[0]["question"], "a second question");
    assert_eq!(runs[0]["model_calls"], 1);
}

#[test]
fn x01_an_empty_home_has_no_runs() {
    let session = Session::new();
    let done = session.run(&["runs"]);
    assert_eq!(done.exits(0).stdout, "");
    done.says("no runs in ");
    assert_eq!(session.run(&["runs", "--json"]).json(), json!({"runs": []}));
    assert_eq!(
        session.run(&["resume", "--json"]).exits(0).json(),
        json!({"results": []})
    );
}

#[test]
fn x01_show_draws_the_tree_and_prints_the_answer() {
    let (session, run) = reviewed();
    let done = session.run(&["show", &run[..20]]);
    done.exits(0)
        .prints("why is it so?")
        .prints("└─ critique  ok  PASS fine")
        .prints("budget  tokens")
        .prints("2 episodes")
        .prints("\nan answer\n");
    assert_eq!(done.stderr, "");
    session
        .run(&["show", &run, "-v"])
        .exits(0)
        .prints("0.0:0 ")
        .prints("model_replied");
}

#[test]
fn x01_show_as_json_is_the_tree_of_episodes() {
    let (session, run) = reviewed();
    let json = session.run(&["show", &run, "--json", "-v"]).exits(0).json();
    assert_eq!(json["run"], run.as_str());
    assert_eq!(json["result"]["answer"], "an answer");
    let root = &json["episode"];
    assert_eq!(root["id"], "0");
    assert_eq!(root["status"], "ok");
    assert_eq!(root["children"][0]["label"], "critique");
    assert_eq!(root["children"][0]["answer"], "PASS fine");
    assert_eq!(json["records"][0]["event"], "started");
    let brief = session.run(&["show", &run, "--json"]).json();
    assert!(brief.get("records").is_none());
}

#[test]
fn x02_show_at_a_record_is_the_run_as_it_stood() {
    let (session, run) = reviewed();
    let json = session
        .run(&["show", &run, "--at", "0", "--json"])
        .exits(0)
        .json();
    assert_eq!(json["at"], "0:0");
    assert_eq!(json["result"], Value::Null);
    assert_eq!(json["episode"]["status"], "unfinished");
    session
        .run(&["show", &run, "--at", "0.0:0"])
        .exits(0)
        .prints("critique");
}

#[test]
fn x02_replay_folds_the_journal_without_a_model() {
    let (session, run) = reviewed();
    std::fs::remove_file(session.path().join("answers.jsonl")).expect("it was there");
    let json = session.run(&["replay", &run, "--json"]).exits(0).json();
    assert_eq!(json["differences"], 0);
    assert_eq!(json["model_calls"], 0);
    assert!(json["events"].as_u64().is_some_and(|events| events > 5));
    session
        .run(&["replay", &run])
        .exits(0)
        .prints("no difference");
}

#[test]
fn x02_fork_goes_on_from_a_record() {
    let (session, run) = reviewed();
    session.script(
        "answers.jsonl",
        &[
            json!({"match": "judge an answer", "reply": "PASS again"}),
            json!({"reply": "another answer"}),
        ],
    );
    let result = session
        .run(&["fork", &run, "--at", "1", "--json"])
        .exits(0)
        .json();
    assert_eq!(result["answer"], "another answer");
    assert_ne!(result["run"], run.as_str());
    let before = session.run(&["show", &run, "--json"]).json();
    assert_eq!(before["result"]["answer"], "an answer");
    session.run(&["verify"]).exits(0);
}

#[test]
fn x02_verify_finds_what_was_changed() {
    let (session, run) = reviewed();
    session.run(&["verify"]).exits(0).prints(": ok");
    let json = session.run(&["verify", &run, "--json"]).exits(0).json();
    assert_eq!(json["ok"], true);
    assert_eq!(json["problems"], json!([]));
    assert!(json["events"].as_u64().is_some_and(|events| events > 5));

    let heads = session.path().join("data/fathom/heads.jsonl");
    let signed = std::fs::read_to_string(&heads).expect("heads are kept");
    std::fs::write(&heads, signed.replacen("\"seq\":", "\"seq\":1", 1)).expect("it is ours");
    let json = session.run(&["verify", "--json"]).exits(4).json();
    assert_eq!(json["ok"], false);
    assert!(json["problems"][0]["what"].is_string(), "{json}");
    session
        .run(&["verify"])
        .exits(4)
        .prints("problem")
        .prints("✗ ");
}

#[test]
fn c09_stats_add_up_the_runs() {
    let (session, _) = reviewed();
    session.ask(&["q", "--budget", "calls=0"]).exits(3);
    let json = session.run(&["stats", "--json"]).exits(0).json();
    assert_eq!(json["runs"], 2);
    assert_eq!(json["by_status"], json!({"needs_review": 1, "ok": 1}));
    assert_eq!(json["model_calls"], 2);
    assert!(
        json["refusals"]
            .as_u64()
            .is_some_and(|refusals| refusals >= 1)
    );
    assert!(json["latency_ms"]["p95"].is_number());
    session
        .run(&["stats", "--days", "1"])
        .exits(0)
        .prints("2 in 1 day")
        .prints("p95");
}

#[test]
fn x02_a_shredded_run_keeps_its_structure() {
    let (session, run) = reviewed();
    let done = session.run(&["shred", &run, "--yes", "--json"]);
    assert_eq!(done.exits(0).json(), json!({"run": run, "shredded": true}));
    let shown = session.run(&["show", &run]);
    shown
        .exits(0)
        .prints("critique")
        .prints("the content was shredded");
    assert!(!shown.stdout.contains("an answer"));
    let json = session.run(&["show", &run, "--json"]).json();
    assert_eq!(json["shredded"], true);
    assert_eq!(json["episode"]["goal"], Value::Null);
    session.run(&["runs"]).exits(0).prints("(shredded)");
    session.run(&["verify"]).exits(0).prints("was shredded");
    session.run(&["replay", &run]).fails(4, "F0406");
    session.run(&["fork", &run, "--at", "0"]).fails(4, "F0406");
}

#[test]
fn x01_doctor_and_models_say_what_is_there() {
    let (session, _) = reviewed();
    let model = ["--model", "script/answers.jsonl"];
    let with = |words: &[&'static str]| words.iter().chain(&model).copied().collect::<Vec<_>>();
    session
        .run(&with(&["doctor"]))
        .exits(0)
        .prints("✓ ok      home")
        .prints("✓ ok      model");
    session
        .run(&["doctor"])
        .exits(5)
        .prints("✗ failed  model")
        .prints("hint: ");
    let json = session.run(&with(&["doctor", "--json"])).json();
    assert_eq!(json["ok"], true);
    session
        .run(&with(&["models", "list"]))
        .exits(0)
        .prints("script/answers.jsonl")
        .prints("as of 20");
    let json = session.run(&["models", "list", "--json"]).exits(0).json();
    assert_eq!(json["configured"][0]["model"], "local/default");
    assert!(json["prices"][0]["as_of"].is_string());
}
