//! Tools against real programs and servers: small ones of our own, and tool servers of other people.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a fixture that cannot be built fails its test, and says where"
)]

mod browser;
mod http;
mod mcp;
mod site;
mod stage;
