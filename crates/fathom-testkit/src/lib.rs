//! Test doubles that speak real wire formats, a fake clock and the crash simulator.

pub mod clock;
pub mod drill;
pub mod fake_discord;
pub mod fake_hub;
pub mod fake_platform;
mod loopback_server;
pub mod manual_host;
pub mod model_server;
pub mod permit;
pub mod sample_council;
pub mod sample_records;
pub mod sim;
