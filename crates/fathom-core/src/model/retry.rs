//! Retries of failed calls. Each try is an attempt of its own: reserved, journalled and paid for.

use crate::model::failure::{FailureKind, ModelFailure};
use crate::unit::Millis;

/// Most attempts at one call.
pub const ATTEMPTS_MAX: u16 = 4;
/// Most attempts when the provider only asked to slow down.
// A refusal for haste is not billed, so patience costs nothing but time.
pub const RATE_LIMITED_ATTEMPTS_MAX: u16 = 8;
/// Pause before the first retry; it doubles each time.
pub const BACKOFF: Millis = Millis(400);
/// Longest pause, unless the provider asks for more.
pub const BACKOFF_MAX: Millis = Millis(20_000);

/// The pause before the next attempt, or nothing when the call should be given up.
pub(crate) fn pause(failure: &ModelFailure, attempt: u16, jitter: u16) -> Option<Millis> {
    let most = match failure.kind {
        FailureKind::RateLimited => RATE_LIMITED_ATTEMPTS_MAX,
        _ => ATTEMPTS_MAX,
    };
    if !failure.kind.is_retryable() || attempt >= most {
        return None;
    }
    // More doublings than that exceed the longest pause anyway, and a shift beyond the width would overflow.
    let doubled = BACKOFF.0 << u32::from(attempt.saturating_sub(1)).min(16);
    let whole = doubled.min(BACKOFF_MAX.0);
    // Half of the pause is fixed, the other half random, so that many callers do not return at once.
    let jittered = whole / 2 + whole / 2 * u64::from(jitter) / u64::from(u16::MAX);
    let asked = failure.retry_after.unwrap_or_default().0;
    Some(Millis(jittered.max(asked)))
}

#[cfg(test)]
#[path = "retry_tests.rs"]
mod tests;
