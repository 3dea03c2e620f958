//! The time that the watchdog goes by: it limits processes that no event would end.

use tokio::time::Instant;

/// The time now.
#[expect(
    clippy::disallowed_methods,
    reason = "the watchdog measures how long foreign code works"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Waits until then; for ever without a moment.
#[expect(
    clippy::disallowed_methods,
    reason = "the watchdog waits for a limit to pass"
)]
pub(crate) async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}
