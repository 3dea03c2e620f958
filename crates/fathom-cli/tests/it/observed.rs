//! The observer through the binary: it stops the stream in the middle, three times is a high risk, and the council decides.

use std::fmt::Write as _;
use std::process::Stdio;
use std::sync::Mutex;

use fathom_testkit::model_server::{ChunkGate, ModelServer, ReplyBehaviour, SeenRequest};
use serde_json::{Value, json};

use crate::commanding::INSTRUCTIONS;
use crate::session::{Done, Session};

/// A charter whose roles are three models of one server, and whose observer looks early.
fn charter(server: &ModelServer) -> String {
    let role = |name: &str| {
        let url = server.openai_url();
        format!("[roles.{name}]\nmodel = \"openai/{name}\"\nbase_url = \"{url}\"\n\n")
    };
    let roles = ["prime", "lite", "codemind"].map(role).concat();
    format!(
        r#"
protocol = "1.0.0"
name = "watched"
version = "1.0.0"

{roles}
[budget]
tokens = 400_000
calls = 60

[recursion]
max_depth = 1
max_children = 6
allowed_child_types = ["motion"]
allowed_classes = ["critique"]

[stages]
look_every = 10
retries = 0
"#
    )
}

/// What the models say. The acting model is held back in the middle of a word as often as `held` says.
struct Cast {
    held: Mutex<u32>,
    verdict: &'static str,
}

impl Cast {
    fn says(&self, seen: &SeenRequest) -> ReplyBehaviour {
        let has = |words: &str| seen.prompt.contains(words);
        if has("Plan how to do") {
            ReplyBehaviour::reply("PLAN:\n- look\n- answer")
        } else if has("Judge the plan") {
            ReplyBehaviour::reply("PLAN:\n- look twice\n- answer\nconfidence=0.85")
        } else if has("put to the vote") {
            let ballot = match seen.model.as_str() {
                "prime" => "yes",
                "lite" => "no",
                _ => "abstain",
            };
            let vote = json!({"reason": "so it seems", "vote": ballot, "confidence": 80});
            ReplyBehaviour::reply(vote.to_string())
        } else if has("You read along") {
            ReplyBehaviour::reply(if has("the pass") {
                "INTERRUPT: that is private"
            } else {
                "OK"
            })
        } else if has("Look whether the task") {
            ReplyBehaviour::reply(self.verdict)
        } else {
            self.act()
        }
    }

    fn act(&self) -> ReplyBehaviour {
        let mut held = self.held.lock().expect("nobody panicked");
        if *held == 0 {
            return ReplyBehaviour::reply("RESPONSE: I cannot tell.\nTHOUGHT_SEED: ask the desk");
        }
        *held -= 1;
        // Nobody ever lets the second piece go: the stream is cut, or the test never ends.
        let gate = ChunkGate::new();
        gate.release(1);
        ReplyBehaviour {
            gate: Some(gate),
            ..ReplyBehaviour::chunks(["RESPONSE: the pass", "word is hunter2"])
        }
    }
}

/// A run in lines: blocks with where they went, votes, and how it ended.
fn told(result: &Value) -> String {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut lines = String::new();
    for block in result["blocks"].as_array().expect("blocks") {
        let ways = block["channels"].as_array().expect("channels").iter();
        let ways: Vec<String> = ways.map(word).collect();
        let marker = word(&block["marker"]);
        writeln!(lines, "{marker} → {}", ways.join(", ")).expect("a text grows");
        for line in word(&block["text"]).lines() {
            writeln!(lines, "    {line}").expect("a text grows");
        }
    }
    for vote in result["votes"].as_array().expect("votes") {
        let (proposal, ruling) = (word(&vote["proposal"]), word(&vote["ruling"]));
        writeln!(lines, "put to the council: {proposal}\n    {ruling}").expect("a text grows");
    }
    for key in ["status", "answer", "risk_level", "interrupts", "verified"] {
        writeln!(lines, "{key}: {}", result[key]).expect("a text grows");
    }
    lines
}

async fn watched(held: u32, verdict: &'static str) -> (Done, Session) {
    let cast = Cast {
        held: Mutex::new(held),
        verdict,
    };
    let server = ModelServer::start(move |seen: &SeenRequest| cast.says(seen)).await;
    let server = server.expect("a port");
    let session = Session::new();
    session.write("watched/charter.toml", &charter(&server));
    session.write("watched/instructions.toml", INSTRUCTIONS);
    let arguments = [
        "think",
        "How do I sign in?",
        "--charter",
        "watched",
        "--model",
        "openai/any",
        "--base-url",
        &server.openai_url(),
        "--json",
    ];
    let mut command = session.command(&arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = tokio::task::spawn_blocking(move || command.output());
    let output = output.await.expect("no panic").expect("the binary starts");
    (Done::from(output), session)
}

#[tokio::test]
async fn g07_the_observer_stops_the_stream_in_the_middle_of_a_word() {
    let (done, _session) = watched(1, "VERIFY: success, nothing was told").await;
    let result = done.exits(0).json();
    assert!(!done.stdout.contains("hunter2"));
    insta::assert_snapshot!(told(&result));
}

#[tokio::test]
async fn g07_three_interrupts_are_a_high_risk_and_a_tie_of_the_council_is_primes() {
    let (done, _session) = watched(3, "VERIFY: success").await;
    insta::assert_snapshot!(told(&done.exits(0).json()));
}

#[tokio::test]
async fn g07_what_does_not_verify_is_an_escalation_to_the_council() {
    let (done, session) = watched(0, "VERIFY: fail, that helps nobody").await;
    insta::assert_snapshot!(told(&done.exits(3).json()));
    let home = fathom_store::HomeFolder::open(session.path().join("data/fathom")).expect("a home");
    let feed = home
        .open_channels()
        .expect("channels")
        .feed("council", 0, 100);
    let messages: Vec<Value> = feed
        .expect("a feed")
        .into_iter()
        .map(|entry| serde_json::from_str(&entry.body.expect("a key")).expect("JSON"))
        .collect();
    let kinds: Vec<&str> = messages
        .iter()
        .map(|message| message["type"].as_str().expect("a type"))
        .collect();
    assert_eq!(kinds, ["INFO", "INFO", "INFO", "INFO", "ESCALATION"]);
    assert_eq!(messages[4]["risk_level"], "high");
    let seeds = home.open_channels().expect("channels").seeds();
    let next = seeds.next().expect("it opens").expect("a seed");
    assert_eq!(next.text.as_deref(), Some("ask the desk"));
}
