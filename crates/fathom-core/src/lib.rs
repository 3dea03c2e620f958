//! The pure core: vocabulary, contracts, the governor, the budget ledger and the programs.
//!
//! An episode is a fold over its events. Nothing here reads a clock, a file, a socket or the environment, and
//! nothing is random: time, ids and random bits arrive inside events.

pub mod budget;
pub mod channel;
pub mod contract;
pub mod council_bus;
pub mod domain;
pub mod effect;
pub mod episode;
mod fnv;
mod governor;
pub mod id;
pub mod journal;
pub mod model;
pub mod packet;
pub mod run;
pub mod sandbox;
pub mod text;
pub mod unit;
