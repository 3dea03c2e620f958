//! Retries of failed effects: how many, and after how long.

use fathom_core::unit::Millis;

/// Longest wait that a platform may ask for. Beyond it, the effect is not retried.
pub const WAIT_MAX: Millis = Millis(5 * 60 * 1_000);

// A rate-limited call did nothing, so one more try than after a fault is safe.
const RATE_LIMITED_RETRIES_MAX: u32 = 3;
const FAULT_RETRIES_MAX: u32 = 2;
const FIRST_WAIT: Millis = Millis(1_000);

/// Failure of a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptFailure {
    /// Rate limited by the platform (429). It did nothing.
    RateLimited {
        /// Delay that the platform asked for.
        after: Option<Millis>,
    },
    /// Fault of the platform (5xx). It may have done something.
    ServerFault,
    /// Certainly never sent.
    NotSent,
    /// Anything else.
    Other,
}

/// Delay before the next try; `None` if there is none. `tries` counts all tries so far, the first included.
pub fn retry(trouble: AttemptFailure, tries: u32, idempotent: bool) -> Option<Millis> {
    // A fault may hide an effect that happened, so only an idempotent call is repeated. An unsent one is safe
    // in any case.
    let (retries_max, after) = match trouble {
        AttemptFailure::RateLimited { after } => (RATE_LIMITED_RETRIES_MAX, after),
        AttemptFailure::ServerFault if idempotent => (FAULT_RETRIES_MAX, None),
        AttemptFailure::NotSent => (FAULT_RETRIES_MAX, None),
        AttemptFailure::ServerFault | AttemptFailure::Other => return None,
    };
    if tries == 0 || tries > retries_max {
        return None;
    }
    let backoff = Millis(FIRST_WAIT.0 << (tries - 1));
    let wait = after.map_or(backoff, |after| after.max(backoff));
    (wait <= WAIT_MAX).then_some(wait)
}
