//! Interpretation of Discord's answers: the fate of a message, and the delay before the next one.
//!
//! Limits are part of every answer and never known beforehand: the requests left in a bucket, and the seconds
//! until it is full again. A request that came too early gets status 429 and a delay.

use std::time::Duration;

use serde::Deserialize;

/// Maximum accepted delay.
pub const WAIT_MAX: Duration = Duration::from_hours(1);
/// Delay after a 429 that names none.
const WAIT_UNTOLD: Duration = Duration::from_secs(5);

/// Fate of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendOutcome {
    /// Delivered.
    Sent,
    /// Too early and not delivered: to be sent again after the delay.
    TooEarly,
    /// Unknown. A bot's message can be sent again under its nonce; a webhook's must not.
    Unknown,
    /// Not delivered, and it would not be the next time either.
    Refused,
}

/// Requests to which a delay applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitScope {
    /// Requests of the same bucket, by Discord's name for it.
    Bucket(Option<String>),
    /// All requests of this bot.
    Global,
}

/// Consequences of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextAttempt {
    pub fate: SendOutcome,
    /// Time from the answer in which nothing may be sent.
    pub wait: Duration,
    /// Requests to which the delay applies.
    pub scope: WaitScope,
}

#[derive(Default, Deserialize)]
struct TooMany {
    retry_after: Option<f64>,
    #[serde(default)]
    global: bool,
}

/// Interprets an answer by its status, its headers (by case-insensitive name) and its body.
pub fn read<'a>(status: u16, header: impl Fn(&str) -> Option<&'a str>, body: &str) -> NextAttempt {
    let fate = match status {
        200..=299 => SendOutcome::Sent,
        429 => SendOutcome::TooEarly,
        500..=599 => SendOutcome::Unknown,
        _ => SendOutcome::Refused,
    };
    let seconds = |name: &str| span(header(name)?.trim().parse().ok()?);
    let bucket = || WaitScope::Bucket(header("x-ratelimit-bucket").map(str::to_owned));
    let reset_after = seconds("x-ratelimit-reset-after");
    if fate == SendOutcome::TooEarly {
        // The body is HTML if something in front of Discord's own servers refuses.
        let told: TooMany = serde_json::from_str(body).unwrap_or_default();
        let waits = [
            // The longest of all: headers and body do not always agree.
            told.retry_after.and_then(span),
            seconds("retry-after"),
            reset_after,
        ];
        let is_global = told.global
            || header("x-ratelimit-global").is_some_and(|value| value == "true")
            || header("x-ratelimit-scope").is_some_and(|value| value == "global");
        return NextAttempt {
            fate,
            wait: waits.into_iter().flatten().max().unwrap_or(WAIT_UNTOLD),
            scope: if is_global {
                WaitScope::Global
            } else {
                bucket()
            },
        };
    }
    // Waiting before the bucket is empty would only slow the messages down.
    let is_empty = header("x-ratelimit-remaining").is_some_and(|left| left.trim() == "0");
    NextAttempt {
        fate,
        wait: reset_after.filter(|_| is_empty).unwrap_or_default(),
        scope: bucket(),
    }
}

/// Seconds, rounded up to milliseconds so that nothing is sent a moment too early.
fn span(seconds: f64) -> Option<Duration> {
    if seconds.is_nan() || seconds < 0.0 {
        return None;
    }
    let capped = seconds.min(WAIT_MAX.as_secs_f64());
    let exact = Duration::try_from_secs_f64(capped).ok()?;
    let millis = exact.as_nanos().div_ceil(1_000_000);
    Some(Duration::from_millis(u64::try_from(millis).ok()?))
}

#[cfg(test)]
#[path = "limits_tests.rs"]
mod tests;
