//! Packets end to end: a charter's persona that is too long goes down the ladder, and `show` tells every step.

use serde_json::{Value, json};

use crate::session::{Done, Session};

const MANIFEST: &str =
    "protocol = \"1.0.0\"\nname = \"mine\"\nversion = \"0.1.0\"\n[packet]\nmtu = 4096\n";

/// A charter whose persona has these notes, and models for the roles that shorten.
fn session(style_notes: &str, answers: &[Value]) -> Session {
    let session = Session::scripted(answers);
    let roles = "[roles.lite]\nmodel = \"script/lite.jsonl\"\n[roles.prime]\nmodel = \"script/prime.jsonl\"\n";
    session.write("mine/charter.toml", &format!("{MANIFEST}{roles}"));
    session.write(
        "mine/persona.toml",
        &format!("style_notes = {style_notes:?}\n"),
    );
    session
}

/// The folder that `make test` fetches weights into.
#[expect(
    clippy::disallowed_methods,
    reason = "a test's weights lie where the surroundings say"
)]
fn weights() -> std::path::PathBuf {
    let said = std::env::var_os("FATHOM_TEST_WEIGHTS").map(std::path::PathBuf::from);
    let cache = || {
        let cache = std::env::var_os("XDG_CACHE_HOME").map(std::path::PathBuf::from);
        let user = || std::path::PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
        let cache = cache.unwrap_or_else(|| user().join(".cache"));
        cache.join("fathom/models")
    };
    let folder = said.unwrap_or_else(cache);
    assert!(
        folder.join("minilm.safetensors").is_file(),
        "no weights in {}: `make test` fetches them",
        folder.display()
    );
    folder
}

fn ask(session: &Session, models: &std::path::Path) -> Done {
    let mut command = session.command(&[
        "ask",
        "Is it so?",
        "--charter",
        "mine",
        "--model",
        "script/answers.jsonl",
    ]);
    let output = command.env("FATHOM_MODELS", models).output();
    Done::from(output.expect("the binary starts"))
}

#[test]
fn g04_a_long_persona_is_shortened_on_this_machine() {
    let rule = "You must never promise a date. ";
    let chatter =
        "The weather by the sea is often mild and people like to talk about it for a while. ";
    let notes = format!("{rule}{}", chatter.repeat(50));
    // The script looks at what the model sees: the mark and the rule are there.
    let answers = [json!({"match": "⚠SUMMARY[^\\n]*never promise a date", "reply": "yes"})];
    let session = session(&notes, &answers);
    session.script("mine/lite.jsonl", &[]);
    session.script("mine/prime.jsonl", &[]);
    ask(&session, &weights()).exits(0).prints("yes");
    let shown = session.run(&["show", &session.newest(), "-v"]);
    shown
        .exits(0)
        .prints("token_budget_overrun")
        .prints("persona: ")
        .prints("the summariser shortened it to");
    let brief = session.run(&["show", &session.newest()]);
    brief.exits(0).prints("packet  0 #0 persona: ");
    let record = session.run(&["show", &session.newest(), "-v", "--json"]);
    let record = record.exits(0).json();
    let overruns: Vec<&Value> = record["records"]
        .as_array()
        .expect("records")
        .iter()
        .filter(|record| record["event"] == "token_budget_overrun")
        .collect();
    assert_eq!(overruns.len(), 1, "{overruns:?}");
}

#[test]
fn g04_what_cannot_be_shortened_goes_to_lite_then_prime_then_is_an_error() {
    // One word: no sentence of it can be left out. A script's tokens are bytes.
    let session = session(&"x".repeat(900), &[]);
    let long = "still much too long ".repeat(20);
    session.script("mine/lite.jsonl", &[json!({"reply": long})]);
    session.script("mine/prime.jsonl", &[json!({"reply": long})]);
    let done = ask(&session, &weights());
    done.exits(4);
    let shown = session.run(&["show", &session.newest(), "-v"]);
    shown
        .exits(0)
        .prints("the summariser could not shorten it")
        .prints("Lite shortened it to")
        .prints("Prime shortened it to")
        .prints("TokenBudgetError: the persona has");
}

#[test]
fn g04_lite_stands_in_where_the_summariser_has_no_weights() {
    let answers = [json!({"match": "⚠SUMMARY Be kind", "reply": "yes"})];
    let session = session(&"x".repeat(900), &answers);
    session.script("mine/lite.jsonl", &[json!({"reply": "Be kind."})]);
    session.script("mine/prime.jsonl", &[]);
    let nowhere = session.path().join("nowhere");
    ask(&session, &nowhere).exits(0).prints("yes");
}

#[test]
fn g02_a_prompt_beyond_the_mtu_is_refused_with_both_sizes() {
    let session = session("", &[json!({"reply": "yes"})]);
    session.script("mine/lite.jsonl", &[]);
    session.script("mine/prime.jsonl", &[]);
    session.write("long.txt", &"many words ".repeat(2000));
    let done = session.run(&[
        "ask",
        "Is it so?",
        "--context",
        "long.txt",
        "--charter",
        "mine",
        "--model",
        "script/answers.jsonl",
        "--json",
    ]);
    let result = done.exits(4).json();
    assert_eq!(result["stop_reason"], "token_budget");
    let said = result["summary"].to_string();
    assert!(
        said.contains("TokenBudgetError") && said.contains("may have 4096"),
        "{said}"
    );
}

#[test]
fn x05_the_embedded_model_answers_offline_and_says_what_it_used() {
    let session = Session::new();
    let mut command = session.command(&[
        "ask",
        "Say hello.",
        "--model",
        "local/smoke",
        "--max-output",
        "16",
        "--budget",
        "calls=2",
    ]);
    let output = command.env("FATHOM_MODELS", weights()).output();
    let done = Done::from(output.expect("the binary starts"));
    // A cap of sixteen tokens may cut it; either way it spoke.
    assert!(matches!(done.exit, Some(0 | 3)), "{}", done.stderr);
    assert!(!done.stdout.trim().is_empty());
    done.says("local/smollm2-135m")
        .says("speed   prompt ")
        .says("/s")
        .says("memory ")
        .says("fathom show ");
}

#[test]
fn x05_without_weights_the_hint_says_how_to_get_them() {
    let session = Session::new();
    let done = session.run(&["ask", "Is it so?"]);
    done.exits(5).says("fathom models pull");
}

#[test]
fn x08_a_file_that_is_no_model_is_a_typed_error() {
    let session = Session::new();
    session.write("mine.gguf", "not a model at all");
    let done = session.run(&["ask", "Is it so?", "--model", "local/mine.gguf"]);
    done.fails(5, "F0503");
}
