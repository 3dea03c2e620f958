//! Integration tests of the test kit.

mod drill;
#[cfg(test)]
mod model_server;
#[cfg(test)]
mod platform;
mod regressions;
mod simulator;
