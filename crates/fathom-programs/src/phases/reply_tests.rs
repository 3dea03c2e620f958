//! Payload, commands and words of replies.

use serde_json::{Map, Value, json};

use super::{CommandText, PhaseReply, read};

/// The actions of the commands, with `?` for what cannot be read.
fn actions(reading: &PhaseReply) -> Vec<String> {
    let action = |stated: &CommandText| match stated {
        CommandText::Command(members) => members["action"].as_str().unwrap_or_default().to_owned(),
        CommandText::Malformed(_) => "?".to_owned(),
    };
    reading.stated.iter().map(action).collect()
}

fn payload(reading: &PhaseReply) -> Value {
    Value::Object(reading.payload.clone().unwrap_or_default())
}

#[test]
fn p04_commands_come_in_three_forms() {
    let reading = read(
        r#"First ⟐CMD {"action":"a","id":"1"} then {"⟐CMD": {"action":"b"}} and
        {"reply":"so","control_signature":{"emit":[{"action":"c"},{"⟐CMD":{"action":"d"}}]},"next_phase":"x"}
        ⟐CMD {"action":"e"}"#,
    );
    assert_eq!(actions(&reading), ["a", "b", "c", "d", "e"]);
    assert_eq!(payload(&reading)["next_phase"], "x");
    assert_eq!(reading.words, "so");
}

#[test]
fn p04_a_mark_may_stand_apart_from_its_object() {
    let marks = [
        "⟐CMD{",
        "⟐CMD {",
        "⟐CMD: {",
        "⟐CMD\n{",
        "`⟐CMD` {",
        "⟐CMD\n```json\n{",
        "⟐CMD ```\n{",
    ];
    for mark in marks {
        let reading = read(&format!("{mark}\"action\":\"a\"}} {{\"next_phase\":null}}"));
        assert_eq!(actions(&reading), ["a"], "{mark}");
        assert_eq!(payload(&reading), json!({ "next_phase": null }), "{mark}");
    }
}

#[test]
fn p03_a_command_is_no_payload() {
    let reading = read(r#"⟐CMD {"action":"a","next_phase":"x"} {"⟐CMD":{"action":"b"}}"#);
    assert_eq!(reading.payload, None);
    assert_eq!(actions(&reading), ["a", "b"]);
    // One that says more is a payload as well.
    let reading = read(r#"{"⟐CMD":{"action":"a"},"next_phase":"x"}"#);
    assert_eq!(payload(&reading)["next_phase"], "x");
    assert_eq!(actions(&reading), ["a"]);
}

#[test]
fn p04_commands_are_found_inside_of_payloads_and_words() {
    let reading = read(
        r#"{"reply":"I note it. ⟐CMD {\"action\":\"b\"} Done.","plan":{"steps":[{"⟐CMD":[{"action":"a"},7]}]}}"#,
    );
    assert_eq!(actions(&reading), ["a", "?", "b"]);
    assert_eq!(reading.words, "I note it.  Done.");
    // Objects in words stay words.
    let reading = read(r#"{"reply":"write {\"a\":1} there"}"#);
    assert_eq!(reading.words, "write {\"a\":1} there");
    assert!(reading.stated.is_empty());
}

#[test]
fn p04_malformed_commands_are_told_and_stepped_over() {
    let reading =
        read(r#"⟐CMD {action: a} ⟐CMD {"action":"b"} {"next_phase":null} ⟐CMD {"action":"c"#);
    assert_eq!(actions(&reading), ["?", "b", "?"]);
    assert!(reading.payload.is_some());
    let reading = read(r#"{"control_signature":{"emit":["load",7,{"action":"a"}]}}"#);
    assert_eq!(actions(&reading), ["?", "?", "a"]);
    // A word about the mark is no command.
    let reading = read("The mark ⟐CMD begins a command. {\"next_phase\":null}");
    assert_eq!(reading.stated, []);
}

#[test]
fn p04_one_command_may_stand_for_a_list() {
    let reading = read(r#"{"control_signature":{"emit":{"action":"a"}}}"#);
    assert_eq!(actions(&reading), ["a"]);
    for nothing in ["null", "[]", "{\"emit\":null}", "\"none\""] {
        let reading = read(&format!("{{\"control_signature\":{nothing}}}"));
        assert_eq!(reading.stated, [], "{nothing}");
    }
}

#[test]
fn p03_words_are_a_member_or_what_stands_outside() {
    let cases = [
        (r#"{"reply":"a","thought":"b"}"#, "a"),
        (r#"{"reply":"  ","narrative":"b"}"#, "b"),
        (r#"{"thought":"b","next_phase":"x"}"#, "b"),
        (
            "So it is.\n```json\n{\"next_phase\":null}\n```\nThat is all.",
            "So it is.\n\nThat is all.",
        ),
        (r#"{"reply":7,"next_phase":null}"#, ""),
        ("only words", "only words"),
    ];
    for (reply, words) in cases {
        assert_eq!(read(reply).words, words, "{reply}");
    }
}

#[test]
fn p03_a_cut_payload_is_known_as_cut() {
    assert!(read(r#"{"reply":"and so"#).is_cut);
    assert!(!read(r#"{"reply":"and so"}"#).is_cut);
    assert!(!read("no object").is_cut);
}

#[test]
fn p04_a_reply_full_of_broken_marks_is_read_once() {
    let reading = read(&"⟐CMD {".repeat(500_000));
    assert_eq!(reading.stated.len(), 500_000);
    let reading = read(&"⟐CMD {}".repeat(500_000));
    assert_eq!(
        reading.stated,
        vec![CommandText::Command(Map::new()); 500_000]
    );
}
