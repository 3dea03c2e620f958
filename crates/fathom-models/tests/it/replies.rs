//! Replies, whole and streamed, free and held to a schema.

use fathom_core::model::failure::{CallBilling, FailureKind};
use fathom_core::model::{FinishReason, ReplyMode, TokenUsage, UsageSource};
use fathom_testkit::model_server::{FinishCode, ModelServer, ReplyBehaviour, ReportedUsage};
use serde_json::json;

use crate::asking::{PROVIDERS, SCHEMA, ask, model, request, with_schema};

const BOTH: [ReplyMode; 2] = [ReplyMode::Whole, ReplyMode::Streamed];

fn said(input: u64, output: u64) -> TokenUsage {
    TokenUsage {
        input_tokens: input,
        output_tokens: output,
        source: UsageSource::Reported,
    }
}

#[tokio::test]
async fn x05_every_provider_replies_whole_and_streamed() {
    for id in PROVIDERS {
        for delivery in BOTH {
            let behaviour =
                ReplyBehaviour::chunks(["Grüße", " from", " here"]).usage(ReportedUsage::Says {
                    input: 17,
                    output: 3,
                });
            let server = ModelServer::queued([behaviour]).await.unwrap();
            let heard = ask(&*model(id, &server), &request(delivery)).await;
            match delivery {
                ReplyMode::Whole => assert!(heard.deltas.is_empty(), "{id}"),
                ReplyMode::Streamed => {
                    assert_eq!(heard.deltas, ["Grüße", " from", " here"], "{id}");
                }
            }
            let reply = heard.reply();
            assert_eq!(reply.text.as_str(), "Grüße from here", "{id}");
            assert_eq!(
                (reply.ending, reply.usage),
                (FinishReason::Complete, said(17, 3)),
                "{id}"
            );
            let log = server.log();
            assert_eq!(
                log[0].seen.prompt, "system: Be brief.\nuser: hello\n",
                "{id}"
            );
            assert_eq!(log[0].seen.streamed, delivery == ReplyMode::Streamed);
        }
    }
}

#[tokio::test]
async fn x05_every_provider_takes_a_schema_as_it_was_written() {
    let answer = r#"{"reasoning":"it is additive","vote":"APPROVE"}"#;
    for id in PROVIDERS {
        for delivery in BOTH {
            let server = ModelServer::replying(answer).await.unwrap();
            let reply = ask(&*model(id, &server), &with_schema(delivery))
                .await
                .reply();
            let seen = &server.log()[0].seen;
            let wanted: serde_json::Value = serde_json::from_str(SCHEMA).unwrap();
            assert_eq!(seen.schema, Some(wanted), "{id}");
            let text: serde_json::Value = serde_json::from_str(reply.text.as_str()).unwrap();
            assert_eq!(text["vote"], "APPROVE", "{id}");
        }
    }
}

#[tokio::test]
async fn x05_requests_say_what_each_wire_format_wants() {
    let server = ModelServer::replying("yes").await.unwrap();
    for id in PROVIDERS.into_iter().chain(["openai/gpt-5-mini"]) {
        ask(&*model(id, &server), &with_schema(ReplyMode::Streamed))
            .await
            .reply();
    }
    let log = server.log();
    let [openai, native, tool, ollama, reasoning] =
        std::array::from_fn(|index| &log[index].seen.body);
    assert_eq!(openai["max_tokens"], 64);
    assert_eq!(openai["temperature"], 0.7);
    assert_eq!(openai["stream_options"], json!({"include_usage": true}));
    assert_eq!(openai["response_format"]["json_schema"]["strict"], true);
    assert_eq!(native["system"], "Be brief.");
    assert_eq!(native["output_config"]["format"]["type"], "json_schema");
    assert_eq!(native["temperature"], json!(null));
    assert_eq!(
        tool["tool_choice"],
        json!({"type": "tool", "name": "reply"})
    );
    assert_eq!(tool["temperature"], 0.7);
    assert_eq!(ollama["options"]["num_predict"], 64);
    assert_eq!(ollama["options"]["num_ctx"], 4096);
    assert_eq!(reasoning["max_completion_tokens"], 64);
    assert_eq!(
        (&reasoning["max_tokens"], &reasoning["temperature"]),
        (&json!(null), &json!(null))
    );
    assert_eq!(log[1].seen.header("anthropic-version"), Some("2023-06-01"));
}

#[tokio::test]
async fn x05_a_reply_that_ran_into_its_cap_is_a_reply() {
    for id in PROVIDERS {
        for delivery in BOTH {
            let behaviour = ReplyBehaviour::reply("half a sent").finish(FinishCode::Length);
            let server = ModelServer::queued([behaviour]).await.unwrap();
            let reply = ask(&*model(id, &server), &request(delivery)).await.reply();
            assert_eq!(reply.ending, FinishReason::Truncated, "{id}");
            assert_eq!(reply.text.as_str(), "half a sent", "{id}");
        }
    }
}

#[tokio::test]
async fn x05_missing_usage_is_counted_here() {
    for id in PROVIDERS {
        for delivery in BOTH {
            let behaviour = ReplyBehaviour::reply("hello world").usage(ReportedUsage::Missing);
            let server = ModelServer::queued([behaviour]).await.unwrap();
            let model = model(id, &server);
            let request = request(delivery);
            let usage = ask(&*model, &request).await.reply().usage;
            assert_eq!(usage.source, UsageSource::Counted, "{id}");
            assert_eq!(
                usage.input_tokens,
                model.measure(&request).unwrap().input_tokens
            );
            // Two tokens where the vocabulary is known, and no more than the bytes where it is not.
            let most = if id.starts_with("openai") { 2 } else { 11 };
            assert_eq!(usage.output_tokens, most, "{id}");
        }
    }
}

#[tokio::test]
async fn e06_usage_counted_by_bytes_stays_within_the_cap() {
    let behaviour = ReplyBehaviour::reply("word ".repeat(100)).usage(ReportedUsage::Missing);
    let server = ModelServer::queued([behaviour]).await.unwrap();
    let reply = ask(&*model("ollama/x", &server), &request(ReplyMode::Whole))
        .await
        .reply();
    assert_eq!(reply.usage.output_tokens, 64);
}

#[tokio::test]
async fn e06_usage_that_lies_is_passed_on_as_reported() {
    let lie = ReportedUsage::Says {
        input: 1,
        output: 1_000_000_000,
    };
    let server = ModelServer::queued([ReplyBehaviour::reply("ok").usage(lie)])
        .await
        .unwrap();
    let reply = ask(&*model("openai/x", &server), &request(ReplyMode::Whole))
        .await
        .reply();
    assert_eq!(reply.usage, said(1, 1_000_000_000));
}

#[tokio::test]
async fn x05_a_refusal_is_a_failure_with_its_bill() {
    for id in ["openai/gpt-4o-mini", "anthropic/claude-sonnet-5-5"] {
        for delivery in BOTH {
            let behaviour = ReplyBehaviour::reply("I cannot")
                .finish(FinishCode::Refusal)
                .usage(ReportedUsage::Says {
                    input: 9,
                    output: 2,
                });
            let server = ModelServer::queued([behaviour]).await.unwrap();
            let failure = ask(&*model(id, &server), &request(delivery))
                .await
                .failure();
            assert_eq!(failure.kind, FailureKind::Refused, "{id}");
            assert_eq!(failure.billing, CallBilling::Reported(said(9, 2)), "{id}");
            assert_eq!(failure.partial.as_str(), "I cannot", "{id}");
        }
    }
}

#[tokio::test]
async fn x05_an_empty_reply_is_a_failure_with_its_bill() {
    for id in PROVIDERS {
        for delivery in BOTH {
            let server = ModelServer::queued([ReplyBehaviour::reply(" \n")])
                .await
                .unwrap();
            let failure = ask(&*model(id, &server), &request(delivery))
                .await
                .failure();
            assert_eq!(failure.kind, FailureKind::Empty, "{id}");
            assert!(matches!(failure.billing, CallBilling::Reported(_)), "{id}");
        }
    }
}

#[tokio::test]
async fn x05_the_same_connection_serves_call_after_call() {
    let server = ModelServer::replying("yes").await.unwrap();
    for id in PROVIDERS {
        let model = model(id, &server);
        for delivery in BOTH {
            for _ in 0..3 {
                ask(&*model, &request(delivery)).await.reply();
            }
        }
    }
    assert_eq!(server.connections(), PROVIDERS.len());
}
