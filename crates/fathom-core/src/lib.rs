//! The pure core: vocabulary, contracts, the governor, the budget ledger and the programs.
//!
//! An episode is a fold over its events. Nothing here reads a clock, a file, a socket or the environment, and
//! nothing is random: time, ids and random bits arrive inside events.

mod admission;
pub mod amounts;
pub mod argv;
pub mod cell;
pub mod command;
pub mod contract;
pub mod delivery;
pub mod domain;
pub mod effect;
pub mod episode;
pub mod event;
pub mod failure;
mod governor;
mod hash;
pub mod id;
pub mod inverse;
pub mod ledger;
pub mod marker;
pub mod model;
pub mod outcome;
pub mod packet;
mod pending;
pub mod program;
pub mod programs;
pub mod protocol;
pub mod records;
pub mod recursion;
pub mod retry;
pub mod run;
pub mod session;
pub mod step;
pub mod stop;
mod stopwatch;
pub mod symbols;
pub mod text;
pub mod tool;
pub mod unit;
