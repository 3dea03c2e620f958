//! `fathom think` through the binary: five stages, their blocks and where they go.

use serde_json::{Value, json};

use crate::session::Session;

/// The scripted model, told apart by what each stage is asked.
fn script(act: &[&str], observer: &[&str], verify: &str) -> Vec<Value> {
    let mut lines = vec![
        json!({ "match": "Plan how to do", "reply": "PLAN:\n- look\n- answer" }),
        json!({ "match": "Judge the plan", "reply": "PLAN:\n- look twice\n- answer\nconfidence=0.85" }),
        json!({ "match": "Look whether the task", "reply": verify }),
    ];
    let vote = json!({ "match": "put to the vote", "reply": r#"{"reason":"fair","vote":"yes","confidence":80}"# });
    lines.extend([vote.clone(), vote.clone(), vote]);
    // The observer comes first: it is shown what the acting model said.
    lines.extend(
        observer
            .iter()
            .map(|said| json!({ "match": "You read along", "reply": said })),
    );
    lines.extend(
        act.iter()
            .map(|said| json!({ "match": "Do the task by the plan", "reply": said })),
    );
    lines
}

fn blocks(result: &Value) -> Vec<(String, String)> {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let blocks = result["blocks"].as_array().expect("blocks");
    blocks
        .iter()
        .map(|block| (word(&block["marker"]), word(&block["text"])))
        .collect()
}

fn block(marker: &str, text: &str) -> (String, String) {
    (marker.to_owned(), text.to_owned())
}

#[test]
fn g07_five_stages_show_their_blocks_on_their_channels() {
    let said = "RESPONSE: Write to ann@example.org.\nTHOUGHT_SEED: ask Ann about May";
    let session = Session::scripted(&script(&[said], &["OK"], "VERIFY: success, it answers"));
    let think = ["think", "Whom do I ask?", "--model", "script/answers.jsonl"];
    let done = session.run(&[&think[..], &["--json"]].concat());
    let result = done.exits(0).json();
    assert_eq!(result["program"], "stages");
    assert_eq!(
        blocks(&result),
        [
            block("PLAN", "- look\n- answer"),
            block("PLAN", "- look twice\n- answer"),
            block("RESPONSE", "Write to [email]."),
            block("THOUGHT_SEED", "ask Ann about May"),
            block("VERIFY", "success, it answers"),
        ]
    );
    let channels = |place: usize| result["blocks"][place]["channels"].clone();
    assert_eq!(channels(0), json!(["cli", "council"]));
    assert_eq!(channels(2), json!(["cli", "web", "discord"]));
    assert_eq!(channels(3), json!(["council", "memory"]));
    assert_eq!(result["risk_level"], "low");
    assert_eq!(result["confidence"], 0.85);
    assert_eq!(result["verified"], true);
    let told = session.run(&think);
    told.exits(0)
        .says("▸ PLAN → cli log, council\n    - look\n")
        .says("▸ RESPONSE → cli, web, discord (not configured)")
        .says("▸ THOUGHT_SEED → council, memory");
    let run = session.newest();
    let shown = session.run(&["show", &run]);
    shown
        .exits(0)
        .prints("▸ VERIFY → cli, web, discord (not configured), council, memory");
}

#[test]
fn g07_three_interrupts_are_put_to_the_council() {
    let stop = "INTERRUPT: it names a person";
    let session = Session::scripted(&script(
        &[
            "RESPONSE: Ann.",
            "RESPONSE: Ann!",
            "RESPONSE: Ann?",
            "RESPONSE: The desk.",
        ],
        &[stop, stop, stop, "OK"],
        "VERIFY: success",
    ));
    let think = [
        "think",
        "Whom do I ask?",
        "--json",
        "--model",
        "script/answers.jsonl",
    ];
    let result = session.run(&think).exits(0).json();
    assert_eq!(result["interrupts"], 3);
    assert_eq!(result["risk_level"], "high");
    assert_eq!(result["answer"], "The desk.");
    let ruling = result["votes"][0]["ruling"].as_str().expect("a vote");
    assert!(ruling.contains("carried"), "{ruling}");
    let interrupts = blocks(&result);
    let interrupts = interrupts
        .iter()
        .filter(|(marker, _)| marker == "INTERRUPT");
    assert_eq!(interrupts.count(), 3);
}

#[test]
fn g07_what_does_not_verify_is_for_a_person() {
    let session = Session::scripted(&script(&["RESPONSE: 5"], &["OK"], "VERIFY: fail, it is 4"));
    let think = ["think", "2+2?", "--json", "--model", "script/answers.jsonl"];
    let result = session.run(&think).exits(3).json();
    assert_eq!(result["verified"], false);
    assert_eq!(result["status"], "needs_review");
    let last = blocks(&result).pop().expect("an alert");
    assert_eq!(last.0, "INTERRUPT");
    assert!(last.1.contains("did not verify"), "{}", last.1);
}
