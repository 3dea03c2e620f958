//! Effects on their way out: the driver's port, the gateway of each run, and confined programs.

mod confined_runner;
mod error;
pub mod port;
pub(crate) mod run_gateway;

pub use error::RunGatewayError;
