//! The store through its public surface.
#![expect(
    clippy::unwrap_used,
    reason = "a fixture that cannot be built fails its test, and says where"
)]

mod answers;
mod chain;
mod conformance;
mod crash;
mod heads;
mod home;
mod keys;
mod memory;
mod sample;
mod sealing;
mod sqlite;
mod vectors;
mod verifying;
