//! Effects on their way out: the driver's port, the gateway of each run, and confined programs.

mod confined_runner;
mod error;
pub mod port;
mod rehearse;
pub(crate) mod run_gateway;
mod send;

pub use error::RunGatewayError;
pub(crate) use send::pause;
