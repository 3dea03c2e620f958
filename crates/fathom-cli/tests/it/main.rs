//! The real binary, run as a user runs it.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot set up its world fails, and says where"
)]

mod agency;
mod asking;
mod attacks;
mod board;
mod charters;
mod council;
mod council_figures;
mod doors;
mod kill;
mod looking_back;
mod mistakes;
mod outages;
mod packets;
mod people;
mod phases;
mod publishing;
mod redact;
mod rlm;
mod session;
mod think;
mod two_processes;
mod weights;
