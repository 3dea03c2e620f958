//! The store through its public surface.
#![expect(
    clippy::unwrap_used,
    reason = "a fixture that cannot be built fails its test, and says where"
)]

mod age_file;
mod answers;
mod chain;
mod channels;
mod conformance;
mod crash;
mod governance;
mod heads;
mod history;
mod home;
mod keys;
mod memory;
mod people;
mod records;
mod redis_server;
mod sample;
mod sealing;
mod signalzero;
mod sqlite;
mod symbols_file;
mod symbols_redis;
mod symbols_suite;
mod vectors;
mod verifying;
