//! Work between runs: stability samples and thought seeds.

pub mod idle_loop;
pub mod stack_monitor;
