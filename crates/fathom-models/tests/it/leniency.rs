//! Servers that imitate a wire format leave things out, add some, and invent words.

use fathom_core::model::failure::FailureKind;
use fathom_core::model::{FinishReason, ReplyMode, UsageSource};
use fathom_testkit::model_server::{ModelServer, ReplyBehaviour};

use crate::asking::{ask, model, request};

#[tokio::test]
async fn x05_imperfect_whole_replies_are_understood() {
    let bodies = [
        r#"{"choices":[{"message":{"content":"hi"}}]}"#,
        r#"{"choices":[{"message":{"role":"assistant","content":"hi"},"finish_reason":"eos"}],"usage":null}"#,
        r#"{"created":1.5,"service_tier":"turbo","choices":[{"index":"0","message":{"content":"hi","reasoning_content":"hm"},"finish_reason":null}],"usage":{"prompt_tokens":"3"}}"#,
        r#"{"choices":[{"message":{"content":[{"type":"text","text":"h"},{"type":"text","text":"i"}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":-1,"completion_tokens":1.5}}"#,
        r#"{"error":null,"choices":[{"message":{"content":"hi","refusal":null},"finish_reason":"stop"}],"unknown":{"deep":[1]}}"#,
    ];
    for body in bodies {
        let page = ReplyBehaviour::page("application/json", body);
        let server = ModelServer::queued([page]).await.unwrap();
        let reply = ask(&*model("openai/x", &server), &request(ReplyMode::Whole))
            .await
            .reply();
        assert_eq!(
            (reply.text.as_str(), reply.ending),
            ("hi", FinishReason::Complete),
            "{body}"
        );
        assert_eq!(reply.usage.source, UsageSource::Counted, "{body}");
    }
}

#[tokio::test]
async fn x05_imperfect_streams_are_understood() {
    let streams: [&[&str]; 5] = [
        // No finish reason, no usage.
        &["data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\ndata: [DONE]\n\n"],
        // No end mark, empty role, comments, carriage returns.
        &[
            ": ping\r\n\r\ndata: {\"choices\":[{\"delta\":{\"role\":\"\",\"content\":null}}]}\r\n\r\n",
            "data:{\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\r\n\r\n",
        ],
        // Cut in the middle of an event and of a character.
        &[
            "data: {\"choices\":[{\"delta\":{\"con",
            "tent\":\"hi\"},\"finish_reason\":\"\"}]}\n",
            "\ndata: [DO",
            "NE]\n\n",
        ],
        // News of a server's own, a last event without its empty line.
        &[
            "data: {\"choices\":[],\"prompt_filter_results\":[]}\n\n",
            "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\ndata: [DONE]",
        ],
        // Usage without choices.
        &[
            "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\n",
            "data: {\"usage\":{\"prompt_tokens\":1}}\n\ndata: [DONE]\n\n",
        ],
    ];
    for frames in streams {
        let behaviour = ReplyBehaviour::frames(frames.iter().copied());
        let server = ModelServer::queued([behaviour]).await.unwrap();
        let reply = ask(&*model("openai/x", &server), &request(ReplyMode::Streamed))
            .await
            .reply();
        assert_eq!(
            (reply.text.as_str(), reply.ending),
            ("hi", FinishReason::Complete),
            "{frames:?}"
        );
        assert_eq!(reply.usage.source, UsageSource::Counted, "{frames:?}");
    }
}

/// The replies that the decision on wire types was made with (docs/decisions/0002).
#[tokio::test]
async fn x05_replies_seen_in_the_wild_are_understood() {
    let choice = r#""choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]"#;
    let whole = [
        format!(r#"{{"id":"x","object":"chat.completion","created":1,"model":"m",{choice},"usage":{{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}}}"#),
        format!(r#"{{"id":"x","object":"chat.completion","created":1,"model":"m",{choice}}}"#),
        format!(r#"{{"model":"m",{choice}}}"#),
        format!(r#"{{"id":"x","created":1.5,"model":"m",{choice}}}"#),
        format!(r#"{{"id":"x","created":1,"model":"m",{choice},"usage":{{"prompt_tokens":1,"completion_tokens":1}}}}"#),
        format!(r#"{{"id":"x","created":1,"model":"m","service_tier":"turbo",{choice}}}"#),
        r#"{"choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"stop"}]}"#.to_owned(),
        r#"{"choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"eos"}]}"#.to_owned(),
        r#"{"choices":[{"index":0,"message":{"content":"hi"},"finish_reason":null}]}"#.to_owned(),
        r#"{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}"#.to_owned(),
        r#"{"choices":[{"message":{"content":[{"type":"text","text":"hi"}]},"finish_reason":"stop"}]}"#.to_owned(),
    ];
    for body in &whole {
        let server = ModelServer::queued([ReplyBehaviour::page("application/json", body)])
            .await
            .unwrap();
        let reply = ask(&*model("openai/x", &server), &request(ReplyMode::Whole))
            .await
            .reply();
        assert_eq!(reply.text.as_str(), "hi", "{body}");
    }
    let silent = r#"{"choices":[{"index":0,"message":{"role":"assistant","content":null},"finish_reason":"stop"}]}"#;
    let server = ModelServer::queued([ReplyBehaviour::page("application/json", silent)])
        .await
        .unwrap();
    let failure = ask(&*model("openai/x", &server), &request(ReplyMode::Whole))
        .await
        .failure();
    assert_eq!(failure.kind, FailureKind::Empty);

    let chunks = [
        r#"{"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"h"},"finish_reason":null}]}"#,
        r#"{"choices":[{"delta":{"content":"i"}}]}"#,
        r#"{"id":"x","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"","content":"!"},"finish_reason":""}]}"#,
        r#"{"id":"x","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}"#,
        r#"{"id":"x","created":1,"model":"m","usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}"#,
        r#"{"error":{"message":"overloaded","code":503}}"#,
    ];
    let frames: Vec<String> = chunks
        .iter()
        .map(|chunk| format!("data: {chunk}\n\n"))
        .collect();
    let behaviour = ReplyBehaviour::frames(frames.iter().map(String::as_str));
    let server = ModelServer::queued([behaviour]).await.unwrap();
    let failure = ask(&*model("openai/x", &server), &request(ReplyMode::Streamed))
        .await
        .failure();
    assert_eq!(
        (failure.kind, failure.partial.as_str()),
        (FailureKind::Server, "hi!")
    );
}

#[tokio::test]
async fn x05_a_server_that_cannot_stream_is_heard_in_one_piece() {
    let body = r#"{"choices":[{"message":{"content":"all at once"},"finish_reason":"stop"}]}"#;
    let page = ReplyBehaviour::page("application/json; charset=utf-8", body);
    let server = ModelServer::queued([page]).await.unwrap();
    let heard = ask(&*model("openai/x", &server), &request(ReplyMode::Streamed)).await;
    assert_eq!(heard.deltas, ["all at once"]);
    assert_eq!(heard.reply().text.as_str(), "all at once");
}

#[tokio::test]
async fn x05_thoughts_are_no_part_of_an_answer_and_cached_input_is_input() {
    let body = r#"{"content":[{"type":"thinking","thinking":"hm","signature":"x"},{"type":"text","text":"hi"}],
        "stop_reason":"end_turn","usage":{"input_tokens":5,"cache_creation_input_tokens":20,"cache_read_input_tokens":100,"output_tokens":7}}"#;
    let page = ReplyBehaviour::page("application/json", body);
    let server = ModelServer::queued([page]).await.unwrap();
    let model = model("anthropic/claude-opus-5-5", &server);
    let reply = ask(&*model, &request(ReplyMode::Whole)).await.reply();
    assert_eq!(reply.text.as_str(), "hi");
    assert_eq!(
        (reply.usage.input_tokens, reply.usage.output_tokens),
        (125, 7)
    );
}

/// What servers tell of a model's thoughts beside its words, in every place where one of them does.
#[tokio::test]
async fn h04_thoughts_are_no_part_of_an_answer_wherever_a_server_tells_them() {
    let whole = [
        (
            "openai/x",
            r#"{"choices":[{"message":{"content":"hi","reasoning_content":"FAIL"}}]}"#,
        ),
        (
            "openai/x",
            r#"{"choices":[{"message":{"reasoning":"FAIL","content":"hi","reasoning_details":[{"type":"reasoning.text","text":"FAIL"}]}}]}"#,
        ),
        (
            "openai/x",
            r#"{"choices":[{"message":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"FAIL"}]},{"type":"text","text":"hi"}]}}]}"#,
        ),
        (
            "openai/x",
            r#"{"choices":[{"message":{"content":[{"type":"reasoning","text":"FAIL"},{"type":"text","text":"hi"}]}}]}"#,
        ),
        (
            "openai/x",
            r#"{"choices":[{"message":{"content":[{"text":"FAIL","thought":true},{"text":"hi"}]}}]}"#,
        ),
        (
            "ollama/x",
            r#"{"message":{"role":"assistant","thinking":"FAIL","content":"hi"},"done":true}"#,
        ),
        (
            "anthropic/claude-opus-5-5",
            r#"{"content":[{"type":"thinking","thinking":"FAIL","signature":"x"},{"type":"redacted_thinking","data":"FAIL"},{"type":"text","text":"hi"}]}"#,
        ),
    ];
    for (id, body) in whole {
        let page = ReplyBehaviour::page("application/json", body);
        let server = ModelServer::queued([page]).await.unwrap();
        let reply = ask(&*model(id, &server), &request(ReplyMode::Whole)).await;
        assert_eq!(reply.reply().text.as_str(), "hi", "{body}");
    }
    let streamed: [(&str, &[&str]); 3] = [
        (
            "openai/x",
            &[
                r#"{"choices":[{"delta":{"role":"assistant","reasoning_content":"FAIL"}}]}"#,
                r#"{"choices":[{"delta":{"reasoning":"FAIL","content":null}}]}"#,
                r#"{"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}"#,
            ],
        ),
        (
            "openai/x",
            &[
                r#"{"choices":[{"delta":{"content":[{"type":"thinking","text":"FAIL"}]}}]}"#,
                r#"{"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}"#,
            ],
        ),
        (
            "anthropic/claude-opus-5-5",
            &[
                r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","text":"FAIL"}}"#,
                r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"FAIL"}}"#,
                r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"x"}}"#,
                r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}"#,
                r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"hi"}}"#,
                r#"{"type":"message_stop"}"#,
            ],
        ),
    ];
    for (id, events) in streamed {
        let frames = events.iter().map(|event| format!("data: {event}\n\n"));
        let frames: Vec<String> = frames.collect();
        let behaviour = ReplyBehaviour::frames(frames.iter().map(String::as_str));
        let server = ModelServer::queued([behaviour]).await.unwrap();
        let heard = ask(&*model(id, &server), &request(ReplyMode::Streamed)).await;
        assert_eq!(heard.deltas, ["hi"], "{events:?}");
        assert_eq!(heard.reply().text.as_str(), "hi", "{events:?}");
    }
}

/// Thoughts alone are no reply: the call is tried again, and is not an answer that a program would have to read.
#[tokio::test]
async fn h04_thoughts_alone_are_an_empty_reply() {
    let body = r#"{"choices":[{"message":{"content":"","reasoning_content":"VOTE: APPROVE"},"finish_reason":"stop"}]}"#;
    let page = ReplyBehaviour::page("application/json", body);
    let server = ModelServer::queued([page]).await.unwrap();
    let heard = ask(&*model("openai/x", &server), &request(ReplyMode::Whole)).await;
    let failure = heard.failure();
    assert_eq!(failure.kind, FailureKind::Empty);
    assert_eq!(failure.partial.as_str(), "");
}
