//! Decisions about effects, through the crate's public surface.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a fixture that cannot be built fails its test, and says where"
)]

mod agency;
mod bundles;
mod decisions;
mod fixture;
mod properties;
mod retries;
mod trips;
