//! Test doubles that speak real wire formats, a fake clock and the crash simulator.

pub mod clock;
pub mod council;
pub mod discord;
pub mod drill;
pub mod hub;
mod listening;
pub mod permit;
pub mod platform;
pub mod records;
pub mod server;
pub mod sim;
