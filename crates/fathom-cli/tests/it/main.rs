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
mod commanding;
mod council;
mod council_figures;
mod doors;
mod golden;
mod identity;
mod idle;
mod kill;
mod looking_back;
mod masking;
mod mistakes;
mod observed;
mod outages;
mod packets;
mod people;
mod phases;
mod publishing;
mod redact;
mod replies;
mod rlm;
mod saying;
mod session;
mod think;
mod two_processes;
mod weights;
