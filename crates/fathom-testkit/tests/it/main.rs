//! Integration tests of the test kit.

#[cfg(test)]
mod discord;
mod drill;
#[cfg(test)]
mod model_server;
#[cfg(test)]
mod platform;
mod regressions;
mod simulator;
