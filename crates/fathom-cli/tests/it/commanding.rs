//! Commands of a stage through the binary: run after a yes, as words and in the sandbox, and taken back when they were wrong.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::session::Session;

const CHARTER: &str = r#"
protocol = "1.0.0"
name = "desk"
version = "1.0.0"

[budget]
tokens = 400_000
calls = 60
tools = 20

[recursion]
max_depth = 1
allowed_child_types = ["motion"]
allowed_classes = ["critique"]

[stages]
retries = 0
"#;

pub(crate) const INSTRUCTIONS: &str = include_str!("../../../../charters/gaia/instructions.toml");

const TOOLS: &str = r#"
[[tool]]
name = "keep"
description = "Makes empty files of these names."
kind = "shell"
platform = "house"
account = "desk"
action = "keep"
inverse = "drop"
schema = { type = "object", properties = { args = { type = "array", items = { type = "string", maxLength = 80 }, minItems = 1, maxItems = 4 } }, required = ["args"] }
program = "/usr/bin/touch"
args = ["--", "{args}"]

[[tool]]
name = "drop"
description = "Removes files of these names."
kind = "shell"
platform = "house"
account = "desk"
action = "drop"
schema = { type = "object", properties = { args = { type = "array", items = { type = "string", maxLength = 80 }, minItems = 1, maxItems = 4 } }, required = ["args"] }
program = "/bin/rm"
args = ["--", "{args}"]

[[tool]]
name = "send"
description = "Says something to the outside."
kind = "shell"
platform = "house"
account = "desk"
action = "send"
schema = { type = "object", properties = { args = { type = "array", items = { type = "string", maxLength = 80 } } }, required = ["args"] }
program = "/bin/echo"
args = ["{args}"]
"#;

const POLICIES: &str = r#"
@id("house")
permit (principal, action, resource);
"#;

/// A desk whose model first says one thing, and another once it was stopped.
fn desk(first: &str, once_stopped: &str, verify: &str) -> Session {
    let lines = [
        json!({ "match": "Plan how to do", "reply": "PLAN:\n- keep it" }),
        json!({ "match": "Judge the plan", "reply": "PLAN:\n- keep it well\nconfidence=0.9" }),
        json!({ "match": "Look whether the task", "reply": verify }),
        json!({ "match": "You read along", "reply": "OK", "times": 9 }),
        json!({ "match": "were stopped", "reply": once_stopped }),
        json!({ "match": "Do the task by the plan", "reply": first }),
    ];
    let session = Session::scripted(&lines);
    session.write("desk/charter.toml", CHARTER);
    session.write("desk/instructions.toml", INSTRUCTIONS);
    session.write("desk/tools.toml", TOOLS);
    session.write(
        "desk/gateway.toml",
        "actions = [\"keep\", \"drop\", \"send\"]\n",
    );
    session.write("desk/policies/all.cedar", POLICIES);
    session
}

fn think(session: &Session) -> Value {
    let done = session.run(&[
        "think",
        "Keep the two files.",
        "--charter",
        "desk",
        "--json",
        "--model",
        "script/answers.jsonl",
    ]);
    assert!(
        done.exit == Some(0) || done.exit == Some(3),
        "{}",
        done.stderr
    );
    done.json()
}

/// Says yes to whatever is asked until nothing is; the words that were agreed to, and the result.
fn agree(session: &Session) -> (Vec<String>, Value) {
    let mut agreed = Vec::new();
    loop {
        let open = session.run(&["approvals", "--json"]).json();
        let Some(first) = open["approvals"].get(0).cloned() else {
            let run = session.newest();
            let shown = session.run(&["show", &run, "--json"]).json();
            return (agreed, shown["result"].clone());
        };
        let arguments: Value =
            serde_json::from_str(first["arguments"].as_str().expect("a text")).expect("JSON");
        agreed.push(format!(
            "{} {}",
            first["tool"].as_str().expect("a text"),
            arguments["args"]
        ));
        let id = first["id"].as_str().expect("a text");
        session.run(&["approve", id, "--json"]);
    }
}

fn kept(session: &Session, name: &str) -> bool {
    let folder: PathBuf = session.path().join("data/fathom/shell");
    folder.join(name).exists()
}

/// A run of `think` in lines: blocks with where they went, commands with what became of them.
fn told(result: &Value) -> String {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut lines = String::new();
    for block in result["blocks"].as_array().expect("a list") {
        let channels: Vec<String> = block["channels"]
            .as_array()
            .expect("a list")
            .iter()
            .map(word)
            .collect();
        writeln!(
            lines,
            "{} → {}",
            word(&block["marker"]),
            channels.join(", ")
        )
        .expect("a text grows");
        for line in word(&block["text"]).lines() {
            writeln!(lines, "    {line}").expect("a text grows");
        }
    }
    for command in result["commands"].as_array().expect("a list") {
        let argv: Vec<String> = command["argv"]
            .as_array()
            .expect("a list")
            .iter()
            .map(word)
            .collect();
        writeln!(lines, "{}: {}", argv.join(" "), word(&command["fate"])).expect("a text grows");
    }
    let verified = &result["verified"];
    writeln!(
        lines,
        "risk {}, verified {verified}",
        word(&result["risk_level"])
    )
    .expect("a text grows");
    lines
}

#[test]
fn g09_a_command_runs_after_a_yes_as_words_in_the_sandbox() {
    let said = "EXECUTE:\nkeep 'a b' '$(id)'\nRESPONSE: Kept.";
    let session = desk(said, "", "VERIFY: success");
    let asked = think(&session);
    assert_eq!(asked["stop_reason"], "awaiting_approval");
    let approval = &asked["approvals"][0];
    assert_eq!(approval["arguments"], r#"{"args":["a b","$(id)"]}"#);
    assert_eq!(
        approval["undo"],
        json!({"by": "tool", "tool": "drop", "args": ["{args}"]})
    );
    assert!(!kept(&session, "a b"), "nothing is run before the yes");
    let page = session.run(&["approvals"]);
    page.prints("with the tool drop, called with {args}");
    let (agreed, result) = agree(&session);
    assert_eq!(agreed, [r#"keep ["a b","$(id)"]"#]);
    assert_eq!(result["status"], "ok", "{result}");
    assert!(kept(&session, "a b") && kept(&session, "$(id)"));
}

#[test]
fn g09_a_line_that_means_something_to_a_shell_is_not_run_and_the_rule_is_named() {
    for (line, rule) in [
        ("rm -rf /", "`rm -rf /` is none that can be"),
        ("keep $(id)", "`$` would be expanded by a shell"),
        ("keep `id`", "``` would be expanded by a shell"),
        ("keep a; drop b", "`;` joins or redirects commands"),
        ("keep 'a\nb'", "a quoted word goes over the end of the line"),
        ("drop a && rm -rf /", "`&` joins or redirects commands"),
    ] {
        let said = format!("EXECUTE:\n{line}");
        let session = desk(&said, "RESPONSE: I did nothing.", "VERIFY: success");
        let result = think(&session);
        assert_eq!(result["status"], "ok", "{line}");
        assert_eq!(result["interrupts"], 1, "{line}");
        assert_eq!(result["commands"], json!([]), "{line}");
        let blocks = result["blocks"].to_string();
        assert!(blocks.contains(rule), "{line}: {blocks}");
    }
    // What would be an option is refused by the tool, before anyone is asked.
    let session = desk(
        "EXECUTE: send -e x",
        "RESPONSE: I did nothing.",
        "VERIFY: success",
    );
    let result = think(&session);
    assert_eq!(result["commands"][0]["fate"], "failed");
    let said = result["commands"][0]["said"].as_str().expect("a text");
    assert!(
        said.contains("dry run") && said.contains("option"),
        "{said}"
    );
}

#[test]
fn g09_what_a_person_denies_is_not_run() {
    let session = desk(
        "EXECUTE: keep a\nRESPONSE: Kept.",
        "RESPONSE: You said no.",
        "VERIFY: success",
    );
    let asked = think(&session);
    let id = asked["approvals"][0]["id"].as_str().expect("a text");
    session.run(&["deny", id, "--why", "not today", "--json"]);
    let (_, result) = agree(&session);
    assert_eq!(result["commands"][0]["fate"], "failed");
    assert!(!kept(&session, "a"));
}

#[test]
fn g07_a_failed_verify_takes_back_what_it_can_the_last_first_and_alerts() {
    let said = "EXECUTE:\nkeep a\nsend b\nkeep c\nRESPONSE: Done.";
    let session = desk(said, "", "VERIFY: fail, nobody wanted c");
    think(&session);
    let (agreed, result) = agree(&session);
    let words = [
        r#"keep ["a"]"#,
        r#"send ["b"]"#,
        r#"keep ["c"]"#,
        r#"drop ["c"]"#,
        r#"drop ["a"]"#,
    ];
    assert_eq!(agreed, words, "one after the other, and back again");
    assert!(!kept(&session, "a") && !kept(&session, "c"));
    assert_eq!(result["status"], "needs_review");
    insta::assert_snapshot!(told(&result));
}
