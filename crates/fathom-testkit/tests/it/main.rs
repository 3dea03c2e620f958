//! Integration tests of the test kit.

mod simulator;
