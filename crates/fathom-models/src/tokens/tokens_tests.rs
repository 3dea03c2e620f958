use std::fs;

use fathom_core::model::{ChatMessage, CountPrecision, ModelRequest, ReplyMode, Speaker};
use fathom_core::text::Text;
use fathom_core::unit::Millis;

use super::*;
use crate::prices::PriceBasis;

fn request(texts: &[(Speaker, &str)]) -> ModelRequest {
    ModelRequest {
        messages: texts
            .iter()
            .map(|(speaker, text)| ChatMessage::new(*speaker, *text))
            .collect(),
        output_tokens_max: 100,
        temperature_milli: None,
        schema: None,
        pattern: None,
        tools: Vec::new(),
        seed: None,
        delivery: ReplyMode::Whole,
        timeout: Millis(1000),
    }
}

fn measure(counter: &TokenCounter, request: &ModelRequest) -> RequestEstimate {
    let facts = ModelFacts::unlisted(PriceBasis::Free);
    counter.measure(request, &facts, 10).unwrap()
}

#[test]
fn g03_a_chat_is_counted_with_its_template() {
    let o200k = TokenCounter::Known(BpeVocabulary::O200k);
    // What the provider itself reports for a single "hello".
    let hello = measure(&o200k, &request(&[(Speaker::User, "hello")]));
    assert_eq!(
        (hello.input_tokens, hello.exactness),
        (8, CountPrecision::Exact)
    );
    let chat = request(&[(Speaker::System, "hello"), (Speaker::User, "hello world")]);
    assert_eq!(measure(&o200k, &chat).input_tokens, 3 + (4 + 1) + (4 + 2));
}

#[test]
fn e06_an_unknown_tokenizer_is_bounded_by_bytes_and_template() {
    let chat = request(&[(Speaker::User, "grüße"), (Speaker::Assistant, "")]);
    let measured = measure(&TokenCounter::Bytes, &chat);
    assert_eq!(measured.input_tokens, 32 + 16 + 7 + 16);
    assert_eq!(measured.exactness, CountPrecision::UpperBound);
}

#[test]
fn e06_a_schema_is_counted_and_makes_the_count_a_bound() {
    let mut chat = request(&[(Speaker::User, "hello")]);
    chat.schema = Some(Text::from(r#"{"type":"object"}"#));
    let measured = measure(&TokenCounter::Known(BpeVocabulary::O200k), &chat);
    assert_eq!(measured.input_tokens, 8 + 17 + 10);
    assert_eq!(measured.exactness, CountPrecision::UpperBound);
}

#[test]
fn g03_a_given_tokenizer_counts_exactly() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let tokenizer = r#"{
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
        "normalizer": null, "pre_tokenizer": {"type": "Whitespace"}, "post_processor": null, "decoder": null,
        "model": {"type": "WordLevel", "vocab": {"one": 0, "two": 1, "[UNK]": 2}, "unk_token": "[UNK]"}
    }"#;
    fs::write(file.path(), tokenizer).unwrap();
    let counter = TokenCounter::read(file.path()).unwrap();
    assert_eq!(counter.count("one two three"), (3, CountPrecision::Exact));
    let measured = measure(&counter, &request(&[(Speaker::User, "one two")]));
    assert_eq!(
        (measured.input_tokens, measured.exactness),
        (32 + 16 + 2, CountPrecision::Exact)
    );
}

#[test]
fn x08_a_tokenizer_that_is_none_is_named_in_the_error() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), "{}").unwrap();
    for path in [file.path(), Path::new("absent/tokenizer.json")] {
        let error = TokenCounter::read(path).unwrap_err();
        assert_eq!(error.code(), "F0308");
        assert!(
            error.to_string().contains(&*path.to_string_lossy()),
            "{error}"
        );
    }
}

#[test]
fn x08_a_sealed_text_is_not_sent_as_nothing() {
    let sealed: Text =
        serde_json::from_str(&format!(r#"{{"sealed":"{}"}}"#, "0".repeat(64))).unwrap();
    let mut chat = request(&[]);
    chat.messages.push(ChatMessage {
        speaker: Speaker::User,
        text: sealed,
    });
    let facts = ModelFacts::unlisted(PriceBasis::Free);
    let failure = TokenCounter::Bytes.measure(&chat, &facts, 0).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Rejected);
}
