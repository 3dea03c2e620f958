use super::*;

fn ballot(reply: &str) -> Option<(MotionVote, u16)> {
    read(reply).map(|said| (said.ballot, said.confidence.get()))
}

#[test]
fn c11_a_reply_that_meets_the_form_is_a_vote() {
    let yes = r#"{"reason":"It pays.","vote":"yes","confidence":87}"#;
    assert_eq!(ballot(yes), Some((MotionVote::Yes, 870)));
    assert_eq!(ballot(&format!("\n {yes}\n")), Some((MotionVote::Yes, 870)));
    assert_eq!(
        ballot(&format!("```json\n{yes}\n```")),
        Some((MotionVote::Yes, 870))
    );
    assert_eq!(
        ballot(&format!("```\n{yes}\n```")),
        Some((MotionVote::Yes, 870))
    );
    for around in [
        format!("Sure! {yes}"),
        format!("```json\n{yes}"),
        format!("{yes}\nThat is {{my}} vote."),
        format!("<think>no: {{\"reason\":\"\",\"vote\":\"no\",\"confidence\":9}}</think>{yes}"),
    ] {
        assert_eq!(ballot(&around), Some((MotionVote::Yes, 870)), "{around}");
    }
    let abstain = r#"{"vote":"abstain","confidence":0,"reason":""}"#;
    assert_eq!(ballot(abstain), Some((MotionVote::Abstain, 0)));
    let no = r#"{"reason":"yes yes yes","vote":"no","confidence":100}"#;
    assert_eq!(ballot(no), Some((MotionVote::No, 1000)));
}

#[test]
fn c11_a_reply_that_does_not_is_none() {
    for reply in [
        "",
        "yes",
        "I vote yes.",
        r#"{"vote":"yes","confidence":87}"#,
        r#"{"reason":"","vote":"yes"}"#,
        r#"{"reason":"","vote":"YES","confidence":87}"#,
        r#"{"reason":"","vote":"approve","confidence":87}"#,
        r#"{"reason":"","vote":"yes","confidence":101}"#,
        r#"{"reason":"","vote":"yes","confidence":65535}"#,
        r#"{"reason":"","vote":"yes","confidence":-1}"#,
        r#"{"reason":"","vote":"yes","confidence":"87"}"#,
        r#"{"reason":"","vote":"yes","confidence":0.87}"#,
        r#"{"reason":"","vote":"yes","confidence":87,"role":"prime"}"#,
        r#"{"reason":"","vote":"no","vote":"yes","confidence":87}"#,
        r#"{"reason":"","vote":"yes","confidence":87} {"reason":"","vote":"no","confidence":87}"#,
        r#"{"reason":"","vote":"yes","confidence":87} {"reason":"","#,
        "<think>{\"reason\":\"\",\"vote\":\"yes\",\"confidence\":87}",
    ] {
        assert_eq!(read(reply), None, "{reply}");
    }
}

#[test]
fn c11_a_reason_is_bounded() {
    let long = "ä".repeat(10_000);
    let reply = format!(r#"{{"reason":"{long}","vote":"no","confidence":5}}"#);
    let said = read(&reply).unwrap();
    assert_eq!(said.reason.chars().count(), REASON_CHARS_MAX);
}

#[test]
fn c11_the_form_that_is_asked_for_is_the_one_that_is_read() {
    let schema: serde_json::Value = serde_json::from_str(SCHEMA).unwrap();
    let required = schema["required"].as_array().unwrap();
    let properties = schema["properties"].as_object().unwrap();
    assert_eq!(required.len(), properties.len());
    for ballot in schema["properties"]["vote"]["enum"].as_array().unwrap() {
        let reply = format!(r#"{{"reason":"","vote":{ballot},"confidence":50}}"#);
        assert!(read(&reply).is_some(), "{reply}");
    }
    let longest = schema["properties"]["reason"]["maxLength"].as_u64();
    assert_eq!(longest, Some(REASON_CHARS_MAX as u64));
}
