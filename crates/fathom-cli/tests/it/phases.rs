//! `fathom phases`, `symbols`, `kits`, `agents` and `session`, as a user runs them.

use std::path::PathBuf;

use fathom_testkit::model_server::{ChunkGate, ModelServer, ReplyBehaviour, SeenRequest};
use serde_json::{Value, json};

use crate::session::{Done, Session, fathom};

/// The five phases in their order, and none.
const NEXT: [Option<&str>; 5] = [
    Some("recurse_thought"),
    Some("synthesize_symbols"),
    Some("validate_symbols"),
    Some("build_output"),
    None,
];

/// What a model that does as it is told replies, with these commands in the first phase.
fn walk(commands: &Value) -> Vec<Value> {
    let reply = |(at, next): (usize, Option<&str>)| {
        let emit = if at == 0 { commands } else { &Value::Null };
        let payload = json!({
            "reply": format!("thought {at}"),
            "control_signature": { "emit": emit.as_array().cloned().unwrap_or_default() },
            "next_phase": next,
        });
        json!({ "reply": payload.to_string() })
    };
    NEXT.into_iter().enumerate().map(reply).collect()
}

fn ask(session: &Session, question: &str, more: &[&str]) -> Done {
    let usual = ["phases", question, "--model", "script/answers.jsonl"];
    let arguments: Vec<&str> = usual.iter().chain(more).copied().collect();
    session.run(&arguments)
}

#[test]
fn p09_a_question_goes_through_all_phases_and_comes_back_with_what_took_part() {
    let symbol = json!({"id": "SYM-900", "name": "Probe", "macro": "try it → see", "linked_patterns": ["SYM-001"]});
    let session = Session::scripted(&walk(&json!([
        {"action": "store_symbol", "symbol": symbol},
        {"action": "query_symbols", "ids": ["SYM-001", "SYM-000"]},
        {"action": "query_symbols", "text": "what shows a claim"},
        {"action": "recurse_graph", "symbol_id": "SYM-900", "depth": 1},
        {"action": "load_kit", "id": "decide"},
        {"action": "invoke_agent", "id": "sceptic"},
        {"action": "update_symbol", "id": "SYM-900", "changes": {"failure_mode": "too small"}},
        {"action": "emit_feedback", "text": "the ledger lacks numbers"},
        {"action": "dance"},
    ])));
    let done = ask(&session, "Is it so?", &["--session", "demo", "--json"]);
    let result = done.exits(0).json();
    assert_eq!(result["program"], "phases");
    assert_eq!(result["reply"], "thought 4");
    assert_eq!(result["answer"], "thought 4");
    let phases: Vec<&str> = list(&result["phases"], "id");
    assert_eq!(
        phases,
        [
            "symbolize_input",
            "recurse_thought",
            "synthesize_symbols",
            "validate_symbols",
            "build_output"
        ]
    );
    let statuses: Vec<&str> = list(&result["commands"], "status");
    assert_eq!(statuses[0], "ok");
    assert_eq!(statuses[8], "unknown_action", "{result:#}");
    assert!(
        statuses[..8].iter().all(|status| *status == "ok"),
        "{result:#}"
    );
    let symbols = result["symbols"].as_array().expect("a list");
    assert!(symbols.contains(&json!("SYM-900")) && symbols.contains(&json!("SYM-001")));
    assert_eq!(
        result["intermediate_responses"].as_array().map(Vec::len),
        Some(5)
    );

    // The store has it, in two versions, and the run tells who said what.
    let got = session.run(&["symbols", "get", "SYM-900", "--json"]).json();
    assert_eq!(got["symbols"][0]["version"], 2);
    assert_eq!(got["symbols"][0]["symbol"]["failure_mode"], "too small");
    let shown = session.run(&["show", &session.newest()]);
    assert!(
        shown.stdout.contains("the ledger lacks numbers"),
        "{}",
        shown.stdout
    );
    assert!(
        shown.stdout.contains("symbolize_input → recurse_thought"),
        "{}",
        shown.stdout
    );
    let stats = session.run(&["stats", "--json"]).json();
    assert_eq!(stats["feedback"][0]["text"], "the ledger lacks numbers");
    session.run(&["verify"]).exits(0);
}

fn list<'a>(of: &'a Value, key: &str) -> Vec<&'a str> {
    let entries = of.as_array().expect("a list").iter();
    entries
        .map(|entry| entry[key].as_str().expect("a word"))
        .collect()
}

#[test]
fn p05_a_later_question_of_a_session_sees_the_earlier_one() {
    let session = Session::scripted(&walk(&json!([])));
    ask(&session, "Where is the red key?", &["--session", "demo"]).exits(0);
    let mut later = walk(&json!([]));
    later[0]["match"] = json!("Where is the red key");
    session.script("answers.jsonl", &later);
    // The first line answers who was told of the first question, and nobody else.
    let first = |session_id: &str| {
        let more = ["--session", session_id, "--json"];
        let result = ask(&session, "And the blue one?", &more).json();
        result["intermediate_responses"][0]["payload"]["reply"].clone()
    };
    assert_eq!(first("demo"), "thought 0");
    session.script("answers.jsonl", &later);
    assert_eq!(first("other"), "thought 1");
    let said = session.run(&["session", "show", "demo", "--json"]).json();
    let who: Vec<&str> = list(&said["entries"], "who");
    assert_eq!(who, ["user", "reply", "user", "reply"]);
}

/// The one file of the sessions' histories.
fn history(session: &Session) -> PathBuf {
    let folder = session.path().join("data/fathom/history");
    let files = std::fs::read_dir(folder).expect("a folder");
    let mut files = files.map(|file| file.expect("a file").path());
    let is_history = |file: &PathBuf| file.extension().is_some_and(|end| end == "jsonl");
    files.find(is_history).expect("a history")
}

#[test]
fn p08_a_history_whose_end_is_cut_off_is_not_gone_on_with() {
    let session = Session::scripted(&walk(&json!([])));
    ask(&session, "One?", &["--session", "demo"]).exits(0);
    let file = history(&session);
    let first = std::fs::read_to_string(&file).expect("lines");
    session.script("answers.jsonl", &walk(&json!([])));
    ask(&session, "Two?", &["--session", "demo"]).exits(0);
    // Every line of what is left opens: only the journal knows that there was more.
    std::fs::write(&file, &first).expect("it can be written");
    session.script("answers.jsonl", &walk(&json!([])));
    let done = ask(&session, "Three?", &["--session", "demo"]);
    done.exits(5);
    assert!(done.stderr.contains("error[F09"), "{}", done.stderr);
    let done = session.run(&["session", "show", "demo"]);
    done.exits(5);
}

#[test]
fn p08_a_session_gets_a_new_key_and_can_be_exported() {
    let session = Session::scripted(&walk(&json!([])));
    ask(&session, "One?", &["--session", "demo"]).exits(0);
    let before = std::fs::read_to_string(history(&session)).expect("lines");
    session.run(&["session", "rotate", "demo"]).exits(0);
    let after = std::fs::read_to_string(history(&session)).expect("lines");
    assert_ne!(before, after);
    session.script("answers.jsonl", &walk(&json!([])));
    ask(&session, "Two?", &["--session", "demo"]).exits(0);
    let said = session.run(&["session", "show", "demo", "--json"]).json();
    assert_eq!(said["entries"].as_array().map(Vec::len), Some(4));
    let done = session.run(&[
        "session", "export", "demo", "--to", "nobody", "--out", "demo.age",
    ]);
    done.exits(2);
    assert!(!session.path().join("demo.age").exists());
}

#[test]
fn p06_a_catalogue_goes_in_and_out_as_it_is() {
    let session = Session::new();
    let catalogue = json!({
        "symbols": [{"id": "A", "name": "a", "macro": "one", "linked_patterns": ["B"], "odd": {"kept": [1, 2]}},
                    {"id": "B", "name": "b", "facets": {"function": "f", "substrate": "s"}}],
        "kits": [{"kit": "K", "anchor": "A", "exec": ["B"]}],
        "agents": [{"id": "P", "name": "p", "voice": "dry"}],
    });
    session.write("mine.json", &catalogue.to_string());
    let done = session.run(&["symbols", "import", "mine.json", "--json"]);
    assert_eq!(
        done.exits(0).json(),
        json!({"new": 4, "changed": 0, "unchanged": 0})
    );
    session.run(&["symbols", "export", "out.json"]).exits(0);
    let text = std::fs::read_to_string(session.path().join("out.json")).expect("a file");
    let out: Value = serde_json::from_str(&text).expect("JSON");
    for list in ["symbols", "kits", "agents"] {
        for entry in catalogue[list].as_array().expect("a list") {
            assert!(
                out[list].as_array().expect("a list").contains(entry),
                "{entry}"
            );
        }
    }
    let links = session.run(&["symbols", "links", "A", "--json"]).json();
    assert_eq!(links["symbols"][0]["symbol"]["id"], "B");
    session.run(&["symbols", "delete", "A"]).exits(0);
    session.run(&["symbols", "get", "A"]).exits(4);
    let versions = session.run(&["symbols", "versions", "A", "--json"]).json();
    assert_eq!(versions["versions"][1]["symbol"], Value::Null);

    session.write(
        "bad.json",
        r#"{"symbols": [{"id": "C"}, {"name": "no id"}]}"#,
    );
    let done = session.run(&["symbols", "import", "bad.json"]);
    done.exits(2);
    assert!(done.stderr.contains("symbols[1]"), "{}", done.stderr);
    session.run(&["symbols", "get", "C"]).exits(4);
}

/// No weights are there: what needs meaning says so, what needs words works.
#[test]
fn p06_without_an_embedding_model_words_are_searched_and_meaning_is_not() {
    let session = Session::new();
    let done = session.run(&["symbols", "search", "evidence", "--by", "meaning"]);
    done.exits(4);
    assert!(done.stderr.contains("models pull"), "{}", done.stderr);
    let found = session.run(&["symbols", "search", "evidence", "--json"]);
    let found = found.exits(0).json();
    assert_eq!(found["symbols"][0]["symbol"]["id"], "SYM-001");
    assert!(
        found["note"]
            .as_str()
            .is_some_and(|note| note.contains("words alone"))
    );
}

#[test]
fn p06_a_redis_server_that_is_not_there_is_an_error_with_a_hint() {
    let session = Session::new();
    session.write(
        "fathom.toml",
        "[symbols]\nredis = \"redis://127.0.0.1:1/0\"\n",
    );
    let done = session.run(&["symbols", "search", "evidence"]);
    done.exits(5);
    assert!(done.stderr.contains("error[F09"), "{}", done.stderr);
    assert!(done.stderr.contains("hint:"), "{}", done.stderr);
    session.write(
        "fathom.toml",
        "[symbols]\nredis = \"redis://u:secret-word@127.0.0.1:1/0\"\n",
    );
    let done = session.run(&["symbols", "search", "evidence"]);
    done.exits(2);
    assert!(!done.stderr.contains("secret-word"), "{}", done.stderr);
}

#[test]
fn p01_a_charter_without_phases_says_so() {
    let session = Session::scripted(&walk(&json!([])));
    let done = ask(&session, "One?", &["--charter", "council"]);
    done.exits(2);
    assert!(done.stderr.contains("error[F0412]"), "{}", done.stderr);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p04_kill_nine_in_a_phase_applies_no_command_twice() {
    let dir = tempfile::tempdir().expect("a folder");
    let gate = ChunkGate::new();
    let held = gate.clone();
    let replies = walk(&json!([
        {"action": "store_symbol", "symbol": {"id": "SYM-901", "name": "Once"}},
        {"action": "update_symbol", "id": "SYM-901", "changes": {"macro": "said once"}},
    ]));
    let server = ModelServer::start(move |seen: &SeenRequest| {
        let at = [
            "symbolize_input",
            "recurse_thought",
            "synthesize_symbols",
            "validate_symbols",
        ]
        .iter()
        .position(|phase| seen.prompt.contains(&format!("You are in phase `{phase}`")))
        .unwrap_or(4);
        let reply = replies[at]["reply"].as_str().unwrap_or_default().to_owned();
        let reply = ReplyBehaviour::reply(reply);
        if at == 1 { reply.gated(&held) } else { reply }
    })
    .await
    .expect("a free port");
    let home = dir.path().join("home");
    let asked = ["phases", "Is it so?", "--session", "demo", "--no-resume"];
    let mut child = fathom(&home, &server, &asked);
    // The second phase is asked once the commands of the first are done.
    server.until(|log| log.len() == 2).await;
    child.kill().await.expect("it can be killed");
    gate.open();
    let child = fathom(&home, &server, &["resume"]);
    let output = child.wait_with_output().await.expect("it ends");
    let result: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let result = result.get("results").map_or(&result, |results| &results[0]);
    assert_eq!(result["reply"], "thought 4", "{result:#}");
    let child = fathom(&home, &server, &["symbols", "versions", "SYM-901"]);
    let output = child.wait_with_output().await.expect("it ends");
    let versions: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(
        versions["versions"].as_array().map(Vec::len),
        Some(2),
        "{versions:#}"
    );
    let child = fathom(&home, &server, &["session", "show", "demo"]);
    let output = child.wait_with_output().await.expect("it ends");
    let said: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let users = list(&said["entries"], "who");
    assert_eq!(
        users.iter().filter(|who| **who == "user").count(),
        1,
        "{said:#}"
    );
}
