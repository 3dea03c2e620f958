//! Material through its public surface.
#![expect(
    clippy::unwrap_used,
    reason = "a fixture that cannot be built fails its test, and says where"
)]

mod finding;
mod hostile;
mod reading;
mod toy;
