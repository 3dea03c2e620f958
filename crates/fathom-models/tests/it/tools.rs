//! Calls of tools in every wire format, whole and streamed.

use fathom_core::model::failure::FailureKind;
use fathom_core::model::tool_call::ToolSpec;
use fathom_core::model::{CountPrecision, FinishReason, ModelReply, ModelRequest, ReplyMode};
use fathom_models::Model;
use fathom_testkit::model_server::{
    FinishCode, ModelServer, ReplyBehaviour, ReportedUsage, ServerAction,
};
use serde_json::{Value, json};

use crate::asking::{PROVIDERS, ask, model, request, with_schema};

const BOTH: [ReplyMode; 2] = [ReplyMode::Whole, ReplyMode::Streamed];

/// A schema whose order of members matters to a model.
const LOOK: &str = r#"{"type":"object","properties":{"page":{"type":"integer"},"of":{"type":"string"}},"required":["page"]}"#;

fn with_tools(delivery: ReplyMode) -> ModelRequest {
    let spec = |name: &str, schema: &str| ToolSpec {
        name: name.into(),
        description: "Looks something up.".into(),
        schema: schema.into(),
    };
    ModelRequest {
        tools: vec![
            spec("look", LOOK),
            // The name that a schema goes by where it must be a tool.
            spec("reply", r#"{"type":"object","properties":{}}"#),
        ],
        ..request(delivery)
    }
}

fn calls(reply: &ModelReply) -> Vec<(&str, Value)> {
    let call = |call: &fathom_core::model::tool_call::ToolCall| {
        serde_json::from_str(call.arguments.as_str()).unwrap_or(json!("no JSON"))
    };
    let calls = reply.tool_calls.iter();
    calls.map(|one| (one.name.as_str(), call(one))).collect()
}

async fn answered(id: &str, behaviour: ReplyBehaviour, request: &ModelRequest) -> ModelReply {
    let server = ModelServer::queued([behaviour]).await.unwrap();
    ask(&*model(id, &server), request).await.reply()
}

#[tokio::test]
async fn x05_every_provider_is_told_of_tools_and_its_calls_are_heard() {
    let wanted = [
        ("look", r#"{"page": 7, "of": "Grüße \"quoted\""}"#),
        ("reply", "{}"),
        ("look", r#"{"page": 8}"#),
    ];
    for id in PROVIDERS {
        for delivery in BOTH {
            let behaviour = ReplyBehaviour::reply("I look.").calling(wanted);
            let server = ModelServer::queued([behaviour]).await.unwrap();
            let reply = ask(&*model(id, &server), &with_tools(delivery))
                .await
                .reply();
            assert_eq!(
                calls(&reply),
                [
                    ("look", json!({"page": 7, "of": "Grüße \"quoted\""})),
                    ("reply", json!({})),
                    ("look", json!({"page": 8})),
                ],
                "{id} {delivery:?}"
            );
            assert_eq!(reply.text.as_str(), "I look.", "{id}");
            assert_eq!(reply.ending, FinishReason::Complete);
            let body = &server.log()[0].seen.body;
            let (tool, schema) = if id.starts_with("anthropic") {
                assert_eq!(body["tool_choice"], json!({"type": "auto"}));
                (&body["tools"][0], "input_schema")
            } else {
                assert_eq!(body["tools"][0]["type"], "function");
                (&body["tools"][0]["function"], "parameters")
            };
            assert_eq!(tool["name"], "look", "{id}");
            assert_eq!(tool["description"], "Looks something up.");
            assert_eq!(tool[schema].to_string(), LOOK, "as it was written");
            assert_eq!(body["tools"].as_array().unwrap().len(), 2);
            if id.starts_with("openai") {
                assert_eq!(body["tool_choice"], "auto");
            }
        }
    }
}

#[tokio::test]
async fn x05_a_reply_of_nothing_but_calls_is_a_reply() {
    for id in PROVIDERS {
        for delivery in BOTH {
            let behaviour = ReplyBehaviour::calls([("look", "{}")]).usage(ReportedUsage::Missing);
            let reply = answered(id, behaviour, &with_tools(delivery)).await;
            assert_eq!(reply.text.as_str(), "", "{id}");
            assert_eq!(calls(&reply), [("look", json!({}))], "{id}");
            assert!(reply.usage.output_tokens > 0, "the call is counted: {id}");
        }
    }
}

#[tokio::test]
async fn a_model_that_was_offered_no_tools_wants_none_called() {
    for id in PROVIDERS {
        for delivery in BOTH {
            let behaviour = ReplyBehaviour::reply("hello").calling([("look", "{}")]);
            let reply = answered(id, behaviour, &request(delivery)).await;
            assert!(reply.tool_calls.is_empty(), "{id}");
            assert!(reply.text.as_str().starts_with("hello"), "{id}");
        }
    }
}

#[tokio::test]
async fn a_call_that_was_cut_off_is_passed_on_as_far_as_it_came() {
    for id in ["openai/gpt-4o-mini", "ollama/llama3"] {
        for delivery in BOTH {
            let behaviour =
                ReplyBehaviour::calls([("look", r#"{"page": "#)]).finish(FinishCode::Length);
            let reply = answered(id, behaviour, &with_tools(delivery)).await;
            assert_eq!(reply.ending, FinishReason::Truncated, "{id}");
            assert_eq!(
                reply.tool_calls[0].arguments.as_str(),
                r#"{"page": "#,
                "{id}"
            );
        }
    }
}

#[tokio::test]
async fn more_calls_than_anyone_needs_are_no_reply() {
    let many: Vec<_> = (0..65).map(|_| ("look", "{}")).collect();
    for id in PROVIDERS {
        for delivery in BOTH {
            let behaviour = ReplyBehaviour::calls(many.iter().copied());
            let server = ModelServer::queued([behaviour]).await.unwrap();
            let heard = ask(&*model(id, &server), &with_tools(delivery)).await;
            assert_eq!(heard.failure().kind, FailureKind::Malformed, "{id}");
        }
    }
}

#[tokio::test]
async fn tools_and_a_schema_at_once_are_not_sent() {
    let server = ModelServer::replying("no").await.unwrap();
    for id in PROVIDERS {
        let both = ModelRequest {
            tools: with_tools(ReplyMode::Whole).tools,
            ..with_schema(ReplyMode::Whole)
        };
        let failure = ask(&*model(id, &server), &both).await.failure();
        assert_eq!(failure.kind, FailureKind::Rejected, "{id}");
    }
    assert!(server.log().is_empty());
}

#[tokio::test]
async fn e06_tools_are_counted_before_they_are_sent() {
    let server = ModelServer::replying("yes").await.unwrap();
    for id in PROVIDERS {
        let model: &dyn Model = &*model(id, &server);
        let plain = model.measure(&request(ReplyMode::Whole)).unwrap();
        let offered = model.measure(&with_tools(ReplyMode::Whole)).unwrap();
        let added = offered.input_tokens - plain.input_tokens;
        assert!(added > model.count(LOOK), "{id}: {added}");
        assert_eq!(offered.exactness, CountPrecision::UpperBound);
    }
}

/// The bytes of a stream, one by one.
fn drop_by_drop(content_type: &str, body: &str) -> ReplyBehaviour {
    ReplyBehaviour::of(ServerAction::Frames {
        content_type: content_type.to_owned(),
        frames: body.chars().map(String::from).collect(),
    })
}

const OPENAI: &str = r#"data: {"choices":[{"delta":{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"look","arguments":""}}]}}]}

data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"pa"}}]}}]}

data: {"choices":[{"delta":{"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"look","arguments":"{\"page\":2"}}]}}]}

data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"ge\":1}"}},{"index":1,"function":{"arguments":"}"}}]}}]}

data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}

data: [DONE]

"#;

const ANTHROPIC: &str = r#"event: message_start
data: {"type":"message_start","message":{"usage":{"input_tokens":9,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"look","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"page\": "}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"1}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"b","name":"look","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"page\":2}"}}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":20}}

event: message_stop
data: {"type":"message_stop"}

"#;

const OLLAMA: &str = r#"{"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"look","arguments":{"page":1}}}]},"done":false}
{"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"look","arguments":{"page":2}}}]},"done":false}
{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":9,"eval_count":20}
"#;

#[tokio::test]
async fn x05_calls_are_put_together_from_a_stream_cut_at_every_byte() {
    let events = "text/event-stream";
    for (id, content_type, body) in [
        ("openai/gpt-4o-mini", events, OPENAI),
        ("anthropic/claude-sonnet-5-5", events, ANTHROPIC),
        ("ollama/llama3", "application/x-ndjson", OLLAMA),
    ] {
        let behaviour = drop_by_drop(content_type, body);
        let reply = answered(id, behaviour, &with_tools(ReplyMode::Streamed)).await;
        assert_eq!(
            calls(&reply),
            [("look", json!({"page": 1})), ("look", json!({"page": 2}))],
            "{id}"
        );
    }
}

#[tokio::test]
async fn servers_that_number_no_calls_are_understood() {
    let body = r#"data: {"choices":[{"delta":{"tool_calls":[{"function":{"name":"look","arguments":"{\"page\":"}}]}}]}

data: {"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"1}"}}]}}]}

data: {"choices":[{"delta":{"tool_calls":[{"function":{"name":"look","arguments":{"page":2}}}]},"finish_reason":"stop"}]}

data: [DONE]

"#;
    let behaviour = ReplyBehaviour::frames([body]);
    let request = with_tools(ReplyMode::Streamed);
    let reply = answered("openai/gpt-4o-mini", behaviour, &request).await;
    assert_eq!(
        calls(&reply),
        [("look", json!({"page": 1})), ("look", json!({"page": 2}))]
    );
}

#[tokio::test]
async fn hostile_calls_are_turned_into_data_or_turned_away() {
    let odd = [
        r#"{"choices":[{"message":{"content":"hi","tool_calls":"look"},"finish_reason":"stop"}]}"#,
        r#"{"choices":[{"message":{"content":"hi","tool_calls":[]},"finish_reason":"stop"}]}"#,
        r#"{"choices":[{"message":{"content":"hi","tool_calls":null},"finish_reason":"stop"}]}"#,
    ];
    for body in odd {
        let behaviour = ReplyBehaviour::page("application/json", body);
        let reply = answered(
            "openai/gpt-4o-mini",
            behaviour,
            &with_tools(ReplyMode::Whole),
        )
        .await;
        assert!(reply.tool_calls.is_empty(), "{body}");
        assert_eq!(reply.text.as_str(), "hi");
    }
    let body =
        r#"{"choices":[{"message":{"tool_calls":[7,{"function":{"name":9,"arguments":[1]}}]}}]}"#;
    let behaviour = ReplyBehaviour::page("application/json", body);
    let reply = answered(
        "openai/gpt-4o-mini",
        behaviour,
        &with_tools(ReplyMode::Whole),
    )
    .await;
    assert!(
        reply
            .tool_calls
            .iter()
            .all(|call| call.name.as_str().is_empty())
    );
}
