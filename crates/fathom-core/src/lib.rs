//! The pure core: vocabulary, contracts, the governor, the budget ledger and the programs.
//!
//! An episode is a fold over its events. Nothing here reads a clock, a file, a socket or the environment, and
//! nothing is random: time, ids and random bits arrive inside events.

pub mod amounts;
pub mod command;
pub mod contract;
pub mod effect;
pub mod event;
pub mod failure;
pub mod id;
pub mod model;
pub mod outcome;
pub mod program;
pub mod recursion;
pub mod stop;
pub mod text;
pub mod unit;
