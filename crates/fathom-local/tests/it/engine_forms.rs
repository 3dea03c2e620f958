//! Replies that are held to a schema or a pattern.

use fathom_core::model::failure::{CallBilling, FailureKind};
use fathom_core::model::tool_call::ToolSpec;
use fathom_core::model::{FinishReason, ModelRequest};
use fathom_local::engine::EngineOptions;
use serde_json::Value;

use crate::engine_model::{ask, ask_all, says, smallest, with};

const VOTES: usize = 200;
const REASONING_CHARS_MAX: usize = 16;
const CONFIDENCE_MAX: u64 = 100;
const CHOICES: [&str; 3] = ["APPROVE", "REJECT", "ABSTAIN"];

fn vote(question: &str) -> ModelRequest {
    let schema = serde_json::json!({
        "type": "object",
        "properties": {
            "reasoning": { "type": "string", "maxLength": REASONING_CHARS_MAX },
            "vote": { "type": "string", "enum": CHOICES },
            "confidence": { "type": "integer", "minimum": 0, "maximum": CONFIDENCE_MAX },
        },
        "required": ["reasoning", "vote", "confidence"],
        "additionalProperties": false,
    });
    ModelRequest {
        schema: Some(schema.to_string().into()),
        ..says(question, 160)
    }
}

fn tools() -> Vec<ToolSpec> {
    // `uri` and `minProperties` are among what no grammar can hold a reply to.
    let look = serde_json::json!({
        "type": "object",
        "properties": { "page": { "type": "integer" }, "of": { "type": "string", "format": "uri-reference" } },
        "required": ["page"],
        "minProperties": 1,
    });
    let spec = |name: &str, schema: &str| ToolSpec {
        name: name.into(),
        description: "Looks something up.".into(),
        schema: schema.into(),
    };
    vec![
        spec("look", &look.to_string()),
        spec(
            "clock",
            r#"{"type":"object","properties":{},"additionalProperties":false}"#,
        ),
    ]
}

#[tokio::test]
async fn x05_a_model_without_calls_of_its_own_wants_a_tool_or_answers() {
    let engine = smallest();
    let plain = says("What time is it? Have a tool called.", 120);
    let request = ModelRequest {
        tools: tools(),
        ..plain.clone()
    };
    let measured = |request| engine.measure(request).unwrap().input_tokens;
    assert!(
        measured(&request) > measured(&plain) + 50,
        "the tools are counted"
    );
    for temperature in [0, 1300] {
        let request = ModelRequest {
            temperature_milli: Some(temperature),
            ..request.clone()
        };
        let reply = ask(&engine, &request).await.unwrap();
        if reply.ending == FinishReason::Truncated {
            continue;
        }
        match &reply.tool_calls[..] {
            [] => assert!(!reply.text.is_blank()),
            [call] => {
                assert!(reply.text.as_str().is_empty());
                assert!(["look", "clock"].contains(&call.name.as_str()), "{call:?}");
                let arguments: Value = serde_json::from_str(call.arguments.as_str()).unwrap();
                assert!(arguments.is_object());
            }
            calls => panic!("one at most: {calls:?}"),
        }
    }
}

fn assert_is_vote(text: &str) {
    let vote: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let vote = vote.as_object().unwrap();
    assert_eq!(vote.len(), 3, "{text}");
    assert!(
        vote["reasoning"].as_str().unwrap().chars().count() <= REASONING_CHARS_MAX,
        "{text}"
    );
    assert!(CHOICES.contains(&vote["vote"].as_str().unwrap()), "{text}");
    assert!(
        vote["confidence"].as_u64().unwrap() <= CONFIDENCE_MAX,
        "{text}"
    );
}

#[tokio::test]
async fn x05_every_one_of_two_hundred_votes_is_a_vote() {
    // With all cores, or as many as pay: a change on the way must not show.
    let engine = with(EngineOptions::default());
    let votes = (0..VOTES)
        .map(|index| {
            let mut request = vote(&format!(
                "Should the town build bridge number {index}? Vote."
            ));
            // Half of them by chance: the form must hold for unlikely words too.
            request.temperature_milli = Some(if index % 2 == 0 { 0 } else { 1300 });
            request
        })
        .collect();
    let replies = ask_all(&engine, votes).await;
    assert_eq!(replies.len(), VOTES);
    for reply in replies {
        let reply = reply.unwrap();
        assert_eq!(reply.ending, FinishReason::Complete, "{reply:?}");
        assert_is_vote(reply.text.as_str());
    }
}

#[tokio::test]
async fn a_form_that_runs_into_the_cap_is_truncated() {
    let engine = smallest();
    let mut request = vote("Should the town build a bridge? Vote.");
    request.output_tokens_max = 4;
    let reply = ask(&engine, &request).await.unwrap();
    assert_eq!(reply.ending, FinishReason::Truncated);
    assert!(serde_json::from_str::<Value>(reply.text.as_str()).is_err());
}

#[tokio::test]
async fn a_pattern_holds_for_the_whole_reply() {
    let engine = smallest();
    let is_time = |text: &str| {
        let (hours, minutes) = text.split_once(':').unwrap_or_default();
        hours.len() == 2
            && minutes.len() == 2
            && text.len() == 5
            && hours.parse::<u8>().is_ok_and(|h| h < 24)
    };
    let mut requests = Vec::new();
    for pattern in [
        r"([01][0-9]|2[0-3]):[0-5][0-9]",
        r"^([01][0-9]|2[0-3]):[0-5][0-9]$",
    ] {
        for temperature in [0, 1200] {
            let mut request = says("What time is it?", 20);
            request.pattern = Some(pattern.into());
            request.temperature_milli = Some(temperature);
            requests.push(request);
        }
    }
    for reply in ask_all(&engine, requests).await {
        let reply = reply.unwrap();
        assert_eq!(reply.ending, FinishReason::Complete);
        assert!(is_time(reply.text.as_str()), "{}", reply.text.as_str());
    }
}

#[tokio::test]
async fn a_choice_among_a_few_is_weighed_and_nothing_else() {
    let engine = smallest();
    let asked = [
        (Some("yes|no"), true),
        (Some("yes|yesterday"), false),
        (Some("[a-z]{3}"), false),
        (None, false),
    ];
    let requests = asked.map(|(pattern, _)| ModelRequest {
        pattern: pattern.map(Into::into),
        ..says("Is the sea deep? Reply yes or no.", 4)
    });
    let replies = ask_all(&engine, requests.to_vec()).await;
    for ((pattern, is_weighed), reply) in asked.into_iter().zip(replies) {
        let margin = reply.unwrap().margin_milli;
        assert_eq!(margin.is_some(), is_weighed, "{pattern:?}: {margin:?}");
    }
}

#[tokio::test]
async fn a_form_that_cannot_be_meant_is_rejected_before_anything_is_read() {
    let engine = smallest();
    let with_schema = |schema: &str| ModelRequest {
        schema: Some(schema.into()),
        ..says("hello", 8)
    };
    let with_pattern = |pattern: &str| ModelRequest {
        pattern: Some(pattern.into()),
        ..says("hello", 8)
    };
    let mut both = with_schema("{}");
    both.pattern = Some("a".into());
    let mut tools_too = with_schema("{}");
    tools_too.tools = tools();
    let requests = [
        with_schema("{ not json"),
        with_schema("[1, 2]"),
        with_schema(r#"{"type": "nonsense"}"#),
        with_schema(r##"{"$ref": "#/nowhere"}"##),
        with_schema(&" ".repeat(300 * 1024)),
        with_pattern("(unclosed"),
        with_pattern(r"(a)\1"),
        both,
        tools_too,
    ];
    for request in requests {
        let failure = ask(&engine, &request).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Rejected, "{request:?}");
        assert_eq!(failure.billing, CallBilling::Nothing);
        assert!(failure.detail.as_str().chars().count() <= 400);
    }
    assert_eq!(engine.stats().steps, 0);
}
