//! Everything a server can do wrong, and what is made of it.

use std::net::TcpListener;

use fathom_core::model::failure::{CallBilling, FailureKind, ModelFailure};
use fathom_core::model::{ModelRequest, ModelSpec, ReplyMode};
use fathom_core::unit::Millis;
use fathom_models::{DETAIL_CHARS_MAX, ModelCatalog};
use fathom_testkit::model_server::{ModelServer, ReplyBehaviour, SeenRequest};

use crate::asking::{PROVIDERS, ask, model, no_keys, request};

const BOTH: [ReplyMode; 2] = [ReplyMode::Whole, ReplyMode::Streamed];

struct Case {
    name: &'static str,
    behaviour: fn() -> ReplyBehaviour,
    kind: FailureKind,
    billing: CallBilling,
    says: &'static str,
}

const CASES: &[Case] = &[
    Case {
        name: "reset",
        behaviour: ReplyBehaviour::reset,
        kind: FailureKind::Connection,
        billing: CallBilling::Perhaps,
        says: "lost the connection",
    },
    Case {
        name: "closed without an answer",
        behaviour: ReplyBehaviour::close,
        kind: FailureKind::Connection,
        billing: CallBilling::Perhaps,
        says: "lost the connection",
    },
    Case {
        name: "no HTTP",
        behaviour: ReplyBehaviour::garbage,
        kind: FailureKind::Malformed,
        billing: CallBilling::Perhaps,
        says: "does not speak HTTP",
    },
    Case {
        name: "a web page",
        behaviour: ReplyBehaviour::html,
        kind: FailureKind::Malformed,
        billing: CallBilling::Perhaps,
        says: "text/html; charset=utf-8: <!DOCTYPE html>",
    },
    Case {
        name: "plain text",
        behaviour: || ReplyBehaviour::page("text/plain", "it \u{7}works\n"),
        kind: FailureKind::Malformed,
        billing: CallBilling::Perhaps,
        says: "text/plain: it works",
    },
    Case {
        name: "JSON of another kind",
        behaviour: || ReplyBehaviour::page("application/json", "[1, 2]"),
        kind: FailureKind::Malformed,
        billing: CallBilling::Perhaps,
        says: "[1, 2]",
    },
    Case {
        name: "rate limit",
        behaviour: || ReplyBehaviour::status(429).header("retry-after", "2"),
        kind: FailureKind::RateLimited,
        billing: CallBilling::Nothing,
        says: "status 429: status 429 as scripted",
    },
    Case {
        name: "bad key",
        behaviour: || ReplyBehaviour::status(401),
        kind: FailureKind::Auth,
        billing: CallBilling::Nothing,
        says: "status 401",
    },
    Case {
        name: "unknown model",
        behaviour: || ReplyBehaviour::status(404).body(r#"{"error":"model 'x' not found"}"#),
        kind: FailureKind::Rejected,
        billing: CallBilling::Nothing,
        says: "model 'x' not found",
    },
    Case {
        name: "bad request in HTML",
        behaviour: || ReplyBehaviour::status(400).body("<html>\n<b>400</b>"),
        kind: FailureKind::Rejected,
        billing: CallBilling::Nothing,
        says: "status 400: <html> <b>400</b>",
    },
    Case {
        name: "too long",
        behaviour: || {
            ReplyBehaviour::status(400)
                .body(r#"{"error":{"message":"maximum context length is 10"}}"#)
        },
        kind: FailureKind::TooLarge,
        billing: CallBilling::Nothing,
        says: "maximum context length",
    },
    Case {
        name: "server error",
        behaviour: || ReplyBehaviour::status(502).body(""),
        kind: FailureKind::Server,
        billing: CallBilling::Perhaps,
        says: "status 502",
    },
    Case {
        name: "redirect",
        behaviour: || ReplyBehaviour::status(307).header("location", "http://elsewhere.example/"),
        kind: FailureKind::Rejected,
        billing: CallBilling::Nothing,
        says: "sends on to http://elsewhere.example/",
    },
];

#[tokio::test]
async fn x08_every_fault_is_told_apart_with_what_it_may_cost() {
    for case in CASES {
        for id in PROVIDERS {
            for delivery in BOTH {
                let server = ModelServer::queued([(case.behaviour)()]).await.unwrap();
                let failure = ask(&*model(id, &server), &request(delivery))
                    .await
                    .failure();
                let what = format!("{} of {id}, {delivery:?}: {failure}", case.name);
                assert_eq!(
                    (failure.kind, failure.billing),
                    (case.kind, case.billing),
                    "{what}"
                );
                assert!(failure.detail.as_str().contains(case.says), "{what}");
                // One call is one attempt, whatever happens.
                assert_eq!(server.log().len(), 1, "{what}");
            }
        }
    }
}

#[tokio::test]
async fn x05_retry_after_is_passed_on() {
    let wait = async |behaviour: ReplyBehaviour| {
        let server = ModelServer::queued([behaviour]).await.unwrap();
        let failure = ask(&*model("openai/x", &server), &request(ReplyMode::Whole))
            .await
            .failure();
        failure.retry_after
    };
    let limited = || ReplyBehaviour::status(429);
    assert_eq!(
        wait(limited().header("Retry-After", "2")).await,
        Some(Millis(2_000))
    );
    assert_eq!(
        wait(limited().header("retry-after-ms", "40")).await,
        Some(Millis(40))
    );
    assert_eq!(wait(limited()).await, None);
    let past = limited().header("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT");
    assert_eq!(wait(past).await, Some(Millis(0)));
    let busy = ReplyBehaviour::status(503).header("retry-after", "1");
    assert_eq!(wait(busy).await, Some(Millis(1_000)));
}

#[tokio::test]
async fn x05_nothing_is_billed_when_nobody_listens() {
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let mut spec = ModelSpec::named("openai/x");
    spec.base_url = Some(format!("http://{port}/v1"));
    let model = ModelCatalog::new().connect(&spec, no_keys).unwrap();
    let failure = ask(&*model, &request(ReplyMode::Whole)).await.failure();
    assert_eq!(
        (failure.kind, failure.billing),
        (FailureKind::Connection, CallBilling::Nothing)
    );
    assert!(
        failure
            .detail
            .as_str()
            .contains(&format!("cannot connect to http://{port}")),
        "{failure}"
    );
}

#[tokio::test]
async fn x05_a_stream_that_is_cut_leaves_what_was_said() {
    for id in PROVIDERS {
        let behaviour = ReplyBehaviour::chunks(["one", " two", " three"]).cut_after(2);
        let server = ModelServer::queued([behaviour]).await.unwrap();
        let heard = ask(&*model(id, &server), &request(ReplyMode::Streamed)).await;
        assert_eq!(heard.deltas, ["one", " two"], "{id}");
        let failure = heard.failure();
        assert_eq!(failure.kind, FailureKind::Connection, "{id}");
        assert_eq!(failure.billing, CallBilling::Perhaps, "{id}");
        assert_eq!(failure.partial.as_str(), "one two", "{id}");
    }
}

#[tokio::test]
async fn x05_a_whole_reply_that_is_cut_is_a_lost_connection() {
    for id in PROVIDERS {
        let server = ModelServer::queued([ReplyBehaviour::reply("long enough").cut_after(0)])
            .await
            .unwrap();
        let failure = ask(&*model(id, &server), &request(ReplyMode::Whole))
            .await
            .failure();
        assert_eq!(
            (failure.kind, failure.billing),
            (FailureKind::Connection, CallBilling::Perhaps)
        );
    }
}

async fn stream(id: &str, behaviour: ReplyBehaviour) -> ModelFailure {
    let server = ModelServer::queued([behaviour]).await.unwrap();
    ask(&*model(id, &server), &request(ReplyMode::Streamed))
        .await
        .failure()
}

#[tokio::test]
async fn x08_a_broken_stream_is_malformed_and_keeps_what_was_said() {
    let openai = r#"data: {"choices":[{"delta":{"content":"so far"}}]}"#;
    let failure = stream(
        "openai/x",
        ReplyBehaviour::frames([openai, "\n\ndata: {oops\n\n"]),
    )
    .await;
    assert_eq!(
        (failure.kind, failure.billing),
        (FailureKind::Malformed, CallBilling::Perhaps)
    );
    assert_eq!(failure.partial.as_str(), "so far");
    assert!(
        failure.detail.as_str().contains("text/event-stream: {oops"),
        "{failure}"
    );

    let failure = stream(
        "openai/x",
        ReplyBehaviour::frames(["garbage\nall the way\n"]),
    )
    .await;
    assert_eq!(failure.kind, FailureKind::Malformed);
    assert!(
        failure.detail.as_str().contains("garbage all the way"),
        "{failure}"
    );

    let failure = stream("openai/x", ReplyBehaviour::frames([])).await;
    assert_eq!(
        (failure.kind, failure.billing),
        (FailureKind::Connection, CallBilling::Perhaps)
    );
}

#[tokio::test]
async fn x05_an_error_in_the_middle_of_a_stream_is_told_apart() {
    let said = r#"data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"so"}}"#;
    let error =
        r#"data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    let frames = ReplyBehaviour::frames([said, "\n\n", error, "\n\n"]);
    let failure = stream("anthropic/claude-x", frames).await;
    assert_eq!(
        (failure.kind, failure.billing),
        (FailureKind::Server, CallBilling::Perhaps)
    );
    assert_eq!(
        (failure.detail.as_str(), failure.partial.as_str()),
        ("Overloaded", "so")
    );

    let lines = ReplyBehaviour::frames([
        r#"{"message":{"content":"so"}}"#,
        "\n",
        r#"{"error":"out of memory"}"#,
        "\n",
    ]);
    let failure = stream("ollama/x", lines).await;
    assert_eq!(
        (failure.kind, failure.partial.as_str()),
        (FailureKind::Server, "so")
    );
}

#[tokio::test]
async fn x08_a_reply_without_end_is_not_read_to_it() {
    let megabyte = "x".repeat(1 << 20);
    for id in PROVIDERS {
        for delivery in BOTH {
            let words = megabyte.clone();
            let endless = move |_: &SeenRequest| ReplyBehaviour::chunks([words.as_str(); 9]);
            let server = ModelServer::start(endless).await.unwrap();
            let failure = ask(&*model(id, &server), &request(delivery))
                .await
                .failure();
            assert_eq!(failure.kind, FailureKind::TooLarge, "{id}: {failure}");
            assert_eq!(failure.billing, CallBilling::Perhaps);
        }
    }
}

#[tokio::test]
async fn x05_a_server_that_does_not_answer_runs_into_the_time_limit() {
    for id in PROVIDERS {
        let server = ModelServer::queued([ReplyBehaviour::stall()])
            .await
            .unwrap();
        let model = model(id, &server);
        let patient = request(ReplyMode::Whole);
        let call = tokio::spawn(async move { ask(&*model, &patient).await.failure() });
        server.until(|log| log.len() == 1).await;
        // With the request out and nothing else to do, a stopped clock moves on to the limit.
        tokio::time::pause();
        let failure = call.await.unwrap();
        tokio::time::resume();
        assert_eq!(
            (failure.kind, failure.billing),
            (FailureKind::Timeout, CallBilling::Perhaps)
        );
        assert!(failure.detail.as_str().contains("within 60s"), "{failure}");
    }
}

#[tokio::test]
async fn x08_what_a_provider_says_is_cut_to_size() {
    let long = format!(r#"{{"error":{{"message":"{}"}}}}"#, "é".repeat(5_000));
    let server = ModelServer::queued([ReplyBehaviour::status(400).body(&long)])
        .await
        .unwrap();
    let failure = ask(&*model("openai/x", &server), &request(ReplyMode::Whole))
        .await
        .failure();
    assert_eq!(failure.detail.as_str().chars().count(), DETAIL_CHARS_MAX);
}

#[tokio::test]
async fn x08_a_schema_that_is_no_json_is_not_sent() {
    let server = ModelServer::replying("yes").await.unwrap();
    for id in PROVIDERS {
        let broken = ModelRequest {
            schema: Some("{type: object}".into()),
            ..request(ReplyMode::Whole)
        };
        let failure = ask(&*model(id, &server), &broken).await.failure();
        assert_eq!(
            (failure.kind, failure.billing),
            (FailureKind::Rejected, CallBilling::Nothing)
        );
    }
    assert!(server.log().is_empty());
}
