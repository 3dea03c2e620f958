//! Effects on their way out: the driver's port, the gateway of each run, and confined programs.

mod confined_runner;
pub mod port;
pub(crate) mod run_gateway;
