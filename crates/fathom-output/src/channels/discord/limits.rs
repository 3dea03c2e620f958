//! What an answer of Discord says about the message, and about when the next one may go.
//!
//! Limits are told with every answer and never known beforehand: how many requests a bucket still takes, and in how many
//! seconds it is full again. A request that came too early gets status 429 and the time to wait.

use std::time::Duration;

use serde::Deserialize;

/// Longest wait that is believed.
pub const WAIT_MAX: Duration = Duration::from_hours(1);
/// Waited where a refusal for haste names no time.
const WAIT_UNTOLD: Duration = Duration::from_secs(5);

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is there.
    Sent,
    /// It came too early and is not there: the same again, after the wait.
    TooEarly,
    /// It may be there or not. A bot's message can be sent again under its nonce; a webhook's must not.
    Unknown,
    /// It is not there, and would not be the next time either.
    Refused,
}

/// Whom a wait is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All that have the same way: the bucket, by the name that Discord gives it.
    Bucket(Option<String>),
    /// Everything of this bot.
    Global,
}

/// What to do after an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What became of the message.
    pub fate: Fate,
    /// How long nothing is sent from the moment of the answer on.
    pub wait: Duration,
    /// Whom that is for.
    pub scope: Scope,
}

#[derive(Default, Deserialize)]
struct TooMany {
    retry_after: Option<f64>,
    #[serde(default)]
    global: bool,
}

/// Reads an answer: its status, its headers by name in any case, and its body.
pub fn read<'a>(status: u16, header: impl Fn(&str) -> Option<&'a str>, body: &str) -> Plan {
    let fate = match status {
        200..=299 => Fate::Sent,
        429 => Fate::TooEarly,
        500..=599 => Fate::Unknown,
        _ => Fate::Refused,
    };
    let seconds = |name: &str| span(header(name)?.trim().parse().ok()?);
    let bucket = || Scope::Bucket(header("x-ratelimit-bucket").map(str::to_owned));
    let reset_after = seconds("x-ratelimit-reset-after");
    if fate == Fate::TooEarly {
        // The body is HTML when something before Discord's own servers refuses.
        let told: TooMany = serde_json::from_str(body).unwrap_or_default();
        let waits = [
            told.retry_after.and_then(span),
            seconds("retry-after"),
            reset_after,
        ];
        let is_global = told.global
            || header("x-ratelimit-global").is_some_and(|value| value == "true")
            || header("x-ratelimit-scope").is_some_and(|value| value == "global");
        return Plan {
            fate,
            wait: waits.into_iter().flatten().max().unwrap_or(WAIT_UNTOLD),
            scope: if is_global { Scope::Global } else { bucket() },
        };
    }
    let is_empty = header("x-ratelimit-remaining").is_some_and(|left| left.trim() == "0");
    Plan {
        fate,
        wait: reset_after.filter(|_| is_empty).unwrap_or_default(),
        scope: bucket(),
    }
}

/// Seconds, rounded up to milliseconds so that nothing goes a moment too early.
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
