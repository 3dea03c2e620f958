//! Integration tests of the test kit.

mod drill;
#[cfg(test)]
mod model_server;
mod regressions;
mod simulator;
