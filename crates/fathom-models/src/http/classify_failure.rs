//! Maps errors of the transport and of providers to failures with a kind and a billing.

use std::time::{Duration, SystemTime};

use fathom_core::model::failure::{CallBilling, FailureKind, ModelFailure};
use fathom_core::unit::Millis;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde_json::Value;

/// Maximum length of a failure's cause, in characters.
pub const DETAIL_CHARS_MAX: usize = 300;
/// Longest wait accepted from a provider; a longer one counts as this.
pub const RETRY_AFTER_MAX: Duration = Duration::from_hours(1);
/// Maximum number of characters shown of a malformed body.
const SNIPPET_CHARS_MAX: usize = 80;

/// Phrases by which providers report a request that is too long. There is no common code.
const TOO_LONG: [&str; 9] = [
    "context_length_exceeded",
    "maximum context length",
    "context length",
    "context window",
    "exceed_context_size",
    "available context size",
    "prompt is too long",
    "input is too long",
    "request_too_large",
];

/// An error reported by the provider.
#[derive(Debug, Default)]
pub(crate) struct ProviderMessage {
    pub(crate) message: String,
    pub(crate) class: Option<String>,
    pub(crate) status: Option<u16>,
}

impl ProviderMessage {
    /// Parses `{"error": {"message", "type", "code"}}` and its variants.
    pub(crate) fn read(body: &Value) -> Option<Self> {
        let error = body.get("error").filter(|error| !error.is_null());
        let error = error.or_else(|| body.get("detail")).unwrap_or(body);
        let message = match error {
            Value::String(message) => message.clone(),
            Value::Object(fields) => {
                let words = fields.get("message").or_else(|| fields.get("detail"))?;
                words
                    .as_str()
                    .map_or_else(|| words.to_string(), str::to_owned)
            }
            _ => return None,
        };
        let code = &error["code"];
        Some(Self {
            message,
            class: [&error["type"], code, &error["status"]]
                .iter()
                .find_map(|field| field.as_str())
                .map(str::to_owned),
            status: code
                .as_u64()
                .or_else(|| error["status"].as_u64())
                .and_then(|status| u16::try_from(status).ok())
                .filter(|status| (400..600).contains(status)),
        })
    }

    fn means_too_long(&self) -> bool {
        let class = self.class.as_deref().unwrap_or_default();
        let told = format!("{class} {}", self.message).to_ascii_lowercase();
        TOO_LONG.iter().any(|words| told.contains(words))
    }

    /// The kind of an error within a 200 response.
    fn kind(&self) -> FailureKind {
        if let Some(status) = self.status {
            return kind_of_status(status, self);
        }
        let class = self.class.as_deref().unwrap_or_default();
        let has = |words: &[&str]| words.iter().any(|word| class.contains(word));
        if self.means_too_long() {
            FailureKind::TooLarge
        } else if has(&["rate_limit", "too_many"]) {
            FailureKind::RateLimited
        } else if has(&["authentication", "permission"]) {
            FailureKind::Auth
        } else if has(&["invalid_request", "not_found"]) {
            FailureKind::Rejected
        } else {
            FailureKind::Server
        }
    }
}

fn kind_of_status(status: u16, said: &ProviderMessage) -> FailureKind {
    match status {
        429 => FailureKind::RateLimited,
        // 408 and 409 are the server's doing too: it gave up waiting, or was busy with a conflicting request.
        408 | 409 | 500..=599 => FailureKind::Server,
        401 | 403 => FailureKind::Auth,
        413 => FailureKind::TooLarge,
        _ if said.means_too_long() => FailureKind::TooLarge,
        _ => FailureKind::Rejected,
    }
}

/// The failure for an unsuccessful status.
pub(crate) fn status(
    code: u16,
    said: &ProviderMessage,
    retry_after: Option<Millis>,
) -> ModelFailure {
    let kind = kind_of_status(code, said);
    let billing = match kind {
        // The server accepted the request and may have worked on it.
        FailureKind::Server => CallBilling::Perhaps,
        _ => CallBilling::Nothing,
    };
    let message = said.message.trim();
    let detail = if message.is_empty() {
        format!("status {code}")
    } else {
        format!("status {code}: {message}")
    };
    ModelFailure {
        billing,
        retry_after,
        ..ModelFailure::unsent(kind, detail)
    }
}

/// The failure for an error in the middle of a reply: part of it may be billed.
pub(crate) fn said(said: &ProviderMessage) -> ModelFailure {
    ModelFailure::sent(said.kind(), said.message.clone())
}

/// The failure for a body of another format.
pub(crate) fn malformed(content_type: &str, body: &str, why: &str) -> ModelFailure {
    let kind = if content_type.is_empty() {
        "a body without content type"
    } else {
        content_type
    };
    let beginning = clean(body, SNIPPET_CHARS_MAX);
    let detail = format!("{why}: got {kind}: {beginning}");
    ModelFailure::sent(FailureKind::Malformed, detail)
}

/// The failure to send a request or to read its answer.
pub(crate) fn transport(error: reqwest::Error, endpoint: &str) -> ModelFailure {
    // An address may contain a key or a user name.
    let error = error.without_url();
    let mut cause: &dyn std::error::Error = &error;
    let mut no_http = false;
    while let Some(deeper) = cause.source() {
        cause = deeper;
        no_http |= cause
            .downcast_ref::<hyper::Error>()
            .is_some_and(hyper::Error::is_parse);
    }
    if error.is_connect() {
        let detail = format!("cannot connect to {endpoint}: {cause}");
        ModelFailure::unsent(FailureKind::Connection, detail)
    } else if error.is_builder() {
        ModelFailure::unsent(FailureKind::Rejected, format!("cannot be sent: {cause}"))
    } else if no_http {
        let detail = format!("{endpoint} does not speak HTTP: {cause}");
        ModelFailure::sent(FailureKind::Malformed, detail)
    } else {
        let detail = format!("lost the connection to {endpoint}: {cause}");
        ModelFailure::sent(FailureKind::Connection, detail)
    }
}

/// Delay that the provider asks for: `retry-after-ms`, or `retry-after` in seconds or as a date.
pub(crate) fn retry_after(headers: &HeaderMap, today: SystemTime) -> Option<Millis> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let span = text("retry-after-ms")
        .and_then(|ms| seconds(ms, 1e-3))
        .or_else(|| {
            let value = text(RETRY_AFTER.as_str())?;
            seconds(value, 1.0).or_else(|| {
                let date = httpdate::parse_http_date(value).ok()?;
                // A date in the past asks for no delay.
                Some(date.duration_since(today).unwrap_or_default())
            })
        })?;
    Some(millis(span))
}

/// A delay in milliseconds, rounded up and limited to the maximum.
pub(crate) fn millis(span: Duration) -> Millis {
    let span = span.min(RETRY_AFTER_MAX).as_micros().div_ceil(1000);
    Millis(u64::try_from(span).unwrap_or(u64::MAX))
}

fn seconds(number: &str, unit: f64) -> Option<Duration> {
    let number: f64 = number.parse().ok()?;
    let longest = RETRY_AFTER_MAX.as_secs_f64();
    if number.is_nan() || number < 0.0 {
        return None;
    }
    Duration::try_from_secs_f64((number * unit).min(longest)).ok()
}

/// `text` on one line without control characters, cut to `chars_max`.
pub(crate) fn clean(text: &str, chars_max: usize) -> String {
    let words: Vec<&str> = text
        .split(|char: char| char.is_whitespace() || char.is_control())
        .filter(|word| !word.is_empty())
        .collect();
    let line = words.join(" ");
    if line.chars().nth(chars_max).is_none() {
        return line;
    }
    let kept = line.chars().take(chars_max.saturating_sub(1));
    kept.chain(['…']).collect()
}

#[cfg(test)]
#[path = "classify_failure_tests.rs"]
mod tests;
