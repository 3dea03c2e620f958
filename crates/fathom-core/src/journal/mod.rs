//! What a run writes down: events, and the commands that followed each of them.

pub mod command;
pub mod event;
mod record;
mod signal;
mod spec;
