use serde_json::{Value, json};

use super::{
    ToolCall, ToolReply, ToolReplyError, ToolSpec, as_schema, canonical, in_words, out_of_words,
};
use super::{read_reply, sorted};
use crate::model::{ChatMessage, ModelRequest, ReplyMode, Speaker};
use crate::unit::Millis;

fn tools() -> Vec<ToolSpec> {
    let spec = |name: &str, schema: &str| ToolSpec {
        name: name.into(),
        description: "Does it.".into(),
        schema: schema.into(),
    };
    vec![
        spec(
            "look",
            r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
                "properties":{"page":{"type":"integer"}},"required":["page"]}"#,
        ),
        spec(
            "odd",
            r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}}}"##,
        ),
    ]
}

fn request(messages: Vec<ChatMessage>) -> ModelRequest {
    ModelRequest {
        messages,
        output_tokens_max: 8,
        temperature_milli: None,
        schema: None,
        pattern: None,
        seed: None,
        tools: tools(),
        delivery: ReplyMode::Streamed,
        timeout: Millis(1),
    }
}

#[test]
fn a_schema_holds_a_reply_to_one_call_or_an_answer() {
    let validator = jsonschema::validator_for(&as_schema(&tools())).unwrap();
    let fits = |reply: Value| validator.is_valid(&reply);
    assert!(fits(json!({"tool": "look", "arguments": {"page": 1}})));
    assert!(fits(json!({"tool": "odd", "arguments": {"a": [1]}})));
    assert!(fits(json!({"answer": "yes"})));
    assert!(!fits(json!({"tool": "look", "arguments": {"page": "one"}})));
    assert!(!fits(json!({"tool": "other", "arguments": {}})));
    assert!(!fits(
        json!({"tool": "look", "arguments": {"page": 1}, "answer": "yes"})
    ));
    assert!(!fits(json!({"answer": 1})));
}

#[test]
fn what_fits_the_schema_is_read_and_nothing_else() {
    let call = ToolCall {
        name: "look".into(),
        arguments: r#"{"page":1}"#.into(),
    };
    assert_eq!(
        read_reply(r#" {"tool": "look", "arguments": {"page": 1}} "#),
        Ok(ToolReply::Call(call.clone()))
    );
    assert_eq!(
        read_reply(r#"{"answer": "yes"}"#),
        Ok(ToolReply::Answer("yes".into()))
    );
    for (said, unfit) in [
        ("", ToolReplyError::NoObject),
        ("yes", ToolReplyError::NoObject),
        (r#"{"answer": "cut o"#, ToolReplyError::NoObject),
        (r#"{"answer": "\ud800"}"#, ToolReplyError::NoObject),
        ("[]", ToolReplyError::NoObject),
        ("{}", ToolReplyError::Neither),
        (r#"{"tool": "look"}"#, ToolReplyError::Neither),
        (r#"{"tool": 1, "arguments": {}}"#, ToolReplyError::Neither),
        (
            r#"{"answer": "a", "tool": "look", "arguments": {}}"#,
            ToolReplyError::Neither,
        ),
        (r#"{"answer": "a", "more": 1}"#, ToolReplyError::Neither),
    ] {
        assert_eq!(read_reply(said), Err(unfit), "{said}");
        assert_eq!(out_of_words(said.into()), (said.into(), Vec::new()));
    }
    let said = r#"{"tool":"look","arguments":{"page":1}}"#;
    assert_eq!(out_of_words(said.into()), (String::new(), vec![call]));
    let blank = r#"{"answer":" "}"#;
    assert_eq!(out_of_words(blank.into()), (blank.into(), Vec::new()));
}

#[test]
fn a_model_without_calls_is_told_of_the_tools_in_its_standing_instructions() {
    let question = ChatMessage::new(Speaker::User, "why?");
    let standing = ChatMessage::new(Speaker::System, "Be brief.");
    for (before, begins) in [
        (vec![standing, question.clone()], "Be brief.\n\nTools"),
        (vec![question.clone()], "Tools"),
    ] {
        let told = in_words(&request(before)).unwrap();
        assert_eq!(told.messages.len(), 2);
        let system = told.messages[0].text.as_str();
        assert!(system.starts_with(begins), "{system}");
        assert!(system.contains("- look: Does it.\n"), "{system}");
        assert!(system.contains("\"page\""), "{system}");
        assert_eq!(told.messages[1], question);
        assert!(told.tools.is_empty());
        assert_eq!(told.delivery, ReplyMode::Whole);
        let schema: Value = serde_json::from_str(told.schema.unwrap().as_str()).unwrap();
        assert_eq!(schema, as_schema(&tools()));
    }
    let mut plain = request(vec![question]);
    plain.tools.clear();
    assert_eq!(in_words(&plain), None);
}

#[test]
fn arguments_have_one_form_whatever_the_order_of_their_keys() {
    let one = json!({"b": [{"d": 1, "c": 2}], "a": null});
    let other = json!({"a": null, "b": [{"c": 2, "d": 1}]});
    assert_eq!(canonical(&one), canonical(&other));
    assert_eq!(canonical(&one), r#"{"a":null,"b":[{"c":2,"d":1}]}"#);
    assert_eq!(sorted(&one), one, "only the order changes");
}
