use std::time::UNIX_EPOCH;

use reqwest::header::{HeaderName, HeaderValue};
use serde_json::json;

use super::*;

fn wait(header: &str, value: &str) -> Option<u64> {
    let name = HeaderName::from_bytes(header.as_bytes()).unwrap();
    let headers = HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())]);
    // Sun, 06 Nov 1994 08:49:37 GMT.
    let today = UNIX_EPOCH + Duration::from_secs(784_111_777);
    retry_after(&headers, today).map(|wait| wait.0)
}

#[test]
fn x05_retry_after_is_read_in_all_its_forms() {
    assert_eq!(wait("retry-after", "2"), Some(2_000));
    assert_eq!(wait("retry-after", " 0.25 "), Some(250));
    assert_eq!(wait("retry-after", "0"), Some(0));
    assert_eq!(wait("retry-after-ms", "1500"), Some(1_500));
    assert_eq!(
        wait("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT"),
        Some(30_000)
    );
    assert_eq!(
        wait("retry-after", "Sunday, 06-Nov-94 08:50:07 GMT"),
        Some(30_000)
    );
    assert_eq!(
        wait("retry-after", "Sun Nov  6 08:50:07 1994"),
        Some(30_000)
    );
    assert_eq!(
        wait("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT"),
        Some(0)
    );
}

#[test]
fn x08_a_retry_after_that_makes_no_sense_asks_for_nothing() {
    for value in ["soon", "-5", "NaN", "", "Sun, 99 Nov 1994 08:49:37 GMT"] {
        assert_eq!(wait("retry-after", value), None, "{value}");
    }
    assert_eq!(wait("retry-after", "1e300"), Some(3_600_000));
    assert_eq!(wait("retry-after", "inf"), Some(3_600_000));
}

#[test]
fn x05_statuses_have_their_kind_and_their_bill() {
    use FailureKind::{Auth, RateLimited, Rejected, Server, TooLarge};
    let cases = [
        (429, RateLimited, CallBilling::Nothing),
        (408, Server, CallBilling::Perhaps),
        (409, Server, CallBilling::Perhaps),
        (500, Server, CallBilling::Perhaps),
        (503, Server, CallBilling::Perhaps),
        (529, Server, CallBilling::Perhaps),
        (401, Auth, CallBilling::Nothing),
        (403, Auth, CallBilling::Nothing),
        (400, Rejected, CallBilling::Nothing),
        (404, Rejected, CallBilling::Nothing),
        (422, Rejected, CallBilling::Nothing),
        (418, Rejected, CallBilling::Nothing),
        (413, TooLarge, CallBilling::Nothing),
    ];
    for (code, kind, billing) in cases {
        let failure = status(code, &ProviderMessage::default(), Some(Millis(7)));
        assert_eq!((failure.kind, failure.billing), (kind, billing), "{code}");
        assert_eq!(failure.retry_after, Some(Millis(7)));
    }
}

#[test]
fn x05_a_context_that_is_too_long_is_told_apart() {
    for body in [
        json!({"error": {"code": "context_length_exceeded", "message": "…"}}),
        json!({"error": {"message": "This model's maximum context length is 8192 tokens."}}),
        json!({"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 210000 tokens > 200000 maximum"}}),
        json!({"error": {"code": 400, "type": "exceed_context_size_error", "message": "the request exceeds the available context size"}}),
        json!({"error": "input length exceeds the context length"}),
        json!({"object": "error", "message": "maximum context length is 4096"}),
    ] {
        let said = ProviderMessage::read(&body).unwrap();
        assert_eq!(
            status(400, &said, None).kind,
            FailureKind::TooLarge,
            "{body}"
        );
    }
}

#[test]
fn x05_errors_inside_a_reply_are_told_apart() {
    use FailureKind::{Auth, RateLimited, Rejected, Server};
    let cases = [
        (
            json!({"type": "overloaded_error", "message": "Overloaded"}),
            Server,
        ),
        (
            json!({"type": "rate_limit_error", "message": "slow down"}),
            RateLimited,
        ),
        (
            json!({"type": "authentication_error", "message": "no"}),
            Auth,
        ),
        (
            json!({"type": "invalid_request_error", "message": "no"}),
            Rejected,
        ),
        (json!({"code": 502, "message": "upstream"}), Server),
        (json!({"code": 429, "message": "upstream"}), RateLimited),
        (json!("model runner has unexpectedly stopped"), Server),
    ];
    for (error, kind) in cases {
        let body = json!({ "error": error });
        let failure = super::said(&ProviderMessage::read(&body).unwrap());
        assert_eq!(
            (failure.kind, failure.billing),
            (kind, CallBilling::Perhaps),
            "{body}"
        );
    }
}

#[test]
fn x08_foreign_text_is_cut_and_stripped() {
    assert_eq!(clean("a\u{1b}[31m\r\n\tb \0 c", 80), "a [31m b c");
    assert_eq!(clean("abcdefgh", 5), "abcd…");
    assert_eq!(clean("ab cdefgh", 5), "ab c…");
    assert_eq!(clean(&"ä".repeat(400), 300).chars().count(), 300);
    assert_eq!(clean("", 5), "");
    // A word that just fits must not make room for an ellipsis after it.
    assert_eq!(clean("a b", 1), "…");
    assert_eq!(clean("abcde f", 5), "abcd…");
    assert_eq!(clean("abcde  ", 5), "abcde");
}

proptest::proptest! {
    #[test]
    fn x08_foreign_text_never_exceeds_its_bound(text in proptest::prelude::any::<String>(), most in 1_usize..40) {
        let line = clean(&text, most);
        assert!(line.chars().count() <= most && !line.chars().any(char::is_control), "{line:?}");
    }
}
