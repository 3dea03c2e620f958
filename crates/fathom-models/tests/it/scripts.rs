//! The scripted model.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use fathom_core::model::failure::{CallBilling, FailureKind, ModelFailure};
use fathom_core::model::tool_call::{ToolCall, ToolSpec};
use fathom_core::model::{ChatMessage, ModelRequest, ModelSpec, ReplyMode, Speaker, UsageSource};
use fathom_core::unit::Millis;
use fathom_models::{Model, ModelCatalog, ModelsError, render};
use tempfile::TempDir;

use crate::asking::{Heard, ask, no_keys, request};

struct Stage {
    folder: TempDir,
    catalog: ModelCatalog,
}

impl Stage {
    fn new(script: &str) -> Self {
        let stage = Self {
            folder: TempDir::new().unwrap(),
            catalog: ModelCatalog::new(),
        };
        stage.write(script);
        stage
    }

    fn write(&self, script: &str) {
        fs::write(self.folder.path().join("play.jsonl"), script).unwrap();
    }

    fn spec(&self) -> ModelSpec {
        let file = self.folder.path().join("play.jsonl");
        ModelSpec::named(format!("script/{}", file.display()))
    }

    fn try_model(&self) -> Result<Arc<dyn Model>, ModelsError> {
        self.catalog.connect(&self.spec(), no_keys)
    }

    async fn say(&self, words: &str) -> Heard {
        ask(&*self.try_model().unwrap(), &saying(words)).await
    }
}

fn saying(words: &str) -> ModelRequest {
    ModelRequest {
        messages: vec![ChatMessage::new(Speaker::User, words)],
        ..request(ReplyMode::Whole)
    }
}

fn text(heard: Heard) -> String {
    heard.reply().text.as_str().to_owned()
}

#[tokio::test]
async fn x05_the_first_unused_line_that_fits_answers() {
    let stage = Stage::new(
        r#"{"match": "colou?r", "reply": "red"}
{"match": "^user: number", "reply": "seven", "times": 2}

{"reply": "anything"}
"#,
    );
    assert_eq!(text(stage.say("number").await), "seven");
    assert_eq!(text(stage.say("my color").await), "red");
    assert_eq!(text(stage.say("number").await), "seven");
    assert_eq!(text(stage.say("number").await), "anything");
    let failure = stage.say("my color").await.failure();
    assert_eq!(
        (failure.kind, failure.billing),
        (FailureKind::Rejected, CallBilling::Nothing)
    );
    let detail = failure.detail.as_str();
    assert!(
        detail.contains("no unused line") && detail.contains("0 of 3"),
        "{detail}"
    );
}

#[tokio::test]
async fn x05_use_counts_live_in_the_process_until_the_file_changes() {
    let stage = Stage::new(r#"{"reply": "once"}"#);
    assert_eq!(text(stage.say("a").await), "once");
    // Connecting again does not begin again.
    assert_eq!(stage.say("a").await.failure().kind, FailureKind::Rejected);
    stage.write("{\"reply\": \"new\"}\n");
    assert_eq!(text(stage.say("a").await), "new");
}

#[tokio::test]
async fn x05_scripted_errors_are_what_http_would_make_of_them() {
    let stage = Stage::new(
        r#"{"error": {"status": 429, "retry_after_s": 1.5}}
{"error": {"status": 503}}
{"error": {"status": 401, "message": "no"}}
{"error": {"status": 400, "message": "maximum context length is 10"}}
"#,
    );
    let mut failures: Vec<ModelFailure> = Vec::new();
    for _ in 0..4 {
        failures.push(stage.say("x").await.failure());
    }
    let kinds: Vec<_> = failures.iter().map(|failure| failure.kind).collect();
    let wanted = [
        FailureKind::RateLimited,
        FailureKind::Server,
        FailureKind::Auth,
        FailureKind::TooLarge,
    ];
    assert_eq!(kinds, wanted);
    assert_eq!(failures[0].retry_after, Some(Millis(1_500)));
    assert_eq!(failures[1].billing, CallBilling::Perhaps);
    assert_eq!(failures[2].detail.as_str(), "status 401: no");
}

#[tokio::test]
async fn x05_usage_is_said_or_counted() {
    let stage = Stage::new(
        r#"{"reply": "a b", "usage": {"input_tokens": 5, "output_tokens": 2}}
{"reply": "a b", "usage": {"prompt_tokens": 6, "completion_tokens": 3, "total_tokens": 9}}
{"reply": "a b"}
"#,
    );
    let usage = stage.say("x").await.reply().usage;
    assert_eq!((usage.input_tokens, usage.output_tokens), (5, 2));
    assert_eq!(usage.source, UsageSource::Reported);
    assert_eq!(stage.say("x").await.reply().usage.input_tokens, 6);
    let usage = stage.say("x").await.reply().usage;
    assert_eq!(
        (usage.output_tokens, usage.source),
        (3, UsageSource::Counted)
    );
}

#[tokio::test(start_paused = true)]
async fn x05_a_delay_passes_and_may_run_into_the_time_limit() {
    let stage = Stage::new(
        r#"{"reply": "late", "delay_ms": 1500}
{"reply": "too late", "delay_ms": 61000}
"#,
    );
    let reply = stage.say("x").await.reply();
    assert_eq!(
        (reply.text.as_str(), reply.latency),
        ("late", Millis(1_500))
    );
    let failure = stage.say("x").await.failure();
    assert_eq!(
        (failure.kind, failure.billing),
        (FailureKind::Timeout, CallBilling::Perhaps)
    );
}

#[tokio::test]
async fn x05_a_streamed_script_speaks_word_by_word() {
    let stage = Stage::new(r#"{"reply": "one two\nthree"}"#);
    let streamed = ModelRequest {
        delivery: ReplyMode::Streamed,
        ..saying("x")
    };
    let heard = ask(&*stage.try_model().unwrap(), &streamed).await;
    assert_eq!(heard.deltas, ["one ", "two\n", "three"]);
    assert_eq!(text(heard), "one two\nthree");
}

#[tokio::test]
async fn x05_an_empty_scripted_reply_is_empty() {
    let stage = Stage::new(r#"{"reply": ""}"#);
    assert_eq!(stage.say("x").await.failure().kind, FailureKind::Empty);
}

#[test]
fn x08_bad_lines_are_named_with_file_and_line() {
    let good = r#"{"reply": "ok"}"#;
    let cases = [
        ("nonsense", "expected"),
        (r#"{"replay": "ok"}"#, "replay"),
        (r#"{"reply": 5}"#, "invalid type"),
        (r#"{"match": "(", "reply": "ok"}"#, "`match`"),
        (r#"{"match": "x"}"#, "neither `reply` nor `error`"),
        (r#"{"reply": "ok", "error": {"status": 500}}"#, "both"),
        (r#"{"reply": "ok", "times": 0}"#, "`times`"),
        (r#"{"error": {"status": 200}}"#, "`status`"),
        (
            r#"{"error": {"status": 429, "retry_after_s": -1}}"#,
            "`retry_after_s`",
        ),
    ];
    for (bad, says) in cases {
        let stage = Stage::new(&format!("{good}\n\n{bad}\n"));
        let error = stage.try_model().unwrap_err();
        assert_eq!(error.code(), "F0304", "{bad}");
        let told = error.to_string();
        assert!(
            told.contains("play.jsonl:3: ") && told.contains(says),
            "{told}"
        );
    }
}

#[test]
fn x08_a_script_that_is_not_there_is_named() {
    let missing = Path::new("no/such/play.jsonl");
    let spec = ModelSpec::named(format!("script/{}", missing.display()));
    let error = ModelCatalog::new().connect(&spec, no_keys).unwrap_err();
    assert_eq!(error.code(), "F0303");
    assert!(error.to_string().contains("no/such/play.jsonl"), "{error}");
}

#[test]
fn x05_a_packet_is_rendered_speaker_by_speaker() {
    assert_eq!(
        render(&request(ReplyMode::Whole)),
        "system: Be brief.\nuser: hello\n"
    );
}

#[tokio::test]
async fn x05_a_line_may_want_tools_called() {
    let stage = Stage::new(
        r#"{"tool_calls": [{"name": "look", "arguments": {"page": 1}}, {"name": "post", "arguments": "no JSON"}]}
{"reply": "I look.", "tool_calls": [{"name": "look", "arguments": {}}]}
{"reply": "{\"tool\": \"look\", \"arguments\": {\"page\": 2}}"}
{"reply": "{\"answer\": \"yes\"}"}
{"reply": "plain words"}
{"tool_calls": [{"name": "look", "arguments": {}}]}
"#,
    );
    let offering = ModelRequest {
        tools: vec![ToolSpec {
            name: "look".into(),
            description: "Looks.".into(),
            schema: "{}".into(),
        }],
        ..saying("go")
    };
    let model = stage.try_model().unwrap();
    let mut heard = Vec::new();
    for _ in 0..5 {
        let reply = ask(&*model, &offering).await.reply();
        let call = |call: &ToolCall| format!("{} {}", call.name.as_str(), call.arguments.as_str());
        let calls: Vec<_> = reply.tool_calls.iter().map(call).collect();
        heard.push((reply.text.as_str().to_owned(), calls));
    }
    let line = |text: &str, calls: &[&str]| {
        let calls = calls.iter().map(|&call| call.to_owned()).collect();
        (text.to_owned(), calls)
    };
    assert_eq!(
        heard,
        [
            line("", &[r#"look {"page":1}"#, "post no JSON"]),
            line("I look.", &["look {}"]),
            line("", &[r#"look {"page":2}"#]),
            line("yes", &[]),
            line("plain words", &[]),
        ]
    );
    let failure = ask(&*model, &saying("go")).await.failure();
    assert_eq!(failure.kind, FailureKind::Empty, "no tool was offered");
}

#[test]
fn a_line_cannot_want_tools_called_and_fail() {
    let stage = Stage::new(
        r#"{"tool_calls": [{"name": "look", "arguments": {}}], "error": {"status": 500}}"#,
    );
    let error = stage.try_model().unwrap_err().to_string();
    assert!(error.contains("both `tool_calls` and `error`"), "{error}");
}
