//! Whether an effect is tried again, and after how long.

use fathom_core::unit::Millis;

/// The longest wait that a platform may ask for. When it wants more, the effect is not tried again.
pub const WAIT_MAX: Millis = Millis(5 * 60 * 1_000);

const RATE_LIMITED_RETRIES_MAX: u32 = 3;
const FAULT_RETRIES_MAX: u32 = 2;
const FIRST_WAIT: Millis = Millis(1_000);

/// What went wrong with a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The platform wants fewer calls (429). It did nothing.
    RateLimited {
        /// How long it wants to be left alone.
        after: Option<Millis>,
    },
    /// The platform failed (5xx). It may have done something.
    ServerFault,
    /// It certainly never left the house.
    NotSent,
    /// Anything else.
    Other,
}

/// How long to wait before the next try; nothing when there is none. `tries` counts those that were made, the first included.
pub fn retry(trouble: Trouble, tries: u32, idempotent: bool) -> Option<Millis> {
    let (retries_max, after) = match trouble {
        Trouble::RateLimited { after } => (RATE_LIMITED_RETRIES_MAX, after),
        Trouble::ServerFault if idempotent => (FAULT_RETRIES_MAX, None),
        Trouble::NotSent => (FAULT_RETRIES_MAX, None),
        Trouble::ServerFault | Trouble::Other => return None,
    };
    if tries == 0 || tries > retries_max {
        return None;
    }
    let backoff = Millis(FIRST_WAIT.0 << (tries - 1));
    let wait = after.map_or(backoff, |after| after.max(backoff));
    (wait <= WAIT_MAX).then_some(wait)
}
