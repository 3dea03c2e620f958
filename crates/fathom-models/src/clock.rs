//! The one place of this crate that reads a clock or waits.
//!
//! Limits, breakers and latencies use the runtime's clock, which tests can stop and move. The calendar is only
//! needed for a `Retry-After` that names a date.

use std::time::{Duration, SystemTime};

use tokio::time::Instant;

#[expect(
    clippy::disallowed_methods,
    reason = "limits, breakers and latencies are measured here, on a clock that tests can stop"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}

#[expect(
    clippy::disallowed_methods,
    reason = "a `Retry-After` date means nothing without today's"
)]
pub(crate) fn today() -> SystemTime {
    SystemTime::now()
}

#[expect(
    clippy::disallowed_methods,
    reason = "the models' back-off and the scripted model's delay wait here"
)]
pub(crate) async fn wait(span: Duration) {
    tokio::time::sleep(span).await;
}

#[expect(
    clippy::disallowed_methods,
    reason = "the limiter waits here for the end of a provider's pause"
)]
pub(crate) async fn wait_until(moment: Instant) {
    tokio::time::sleep_until(moment).await;
}
