//! What each program needs before a run of it starts.

pub mod agency;
pub mod council;
mod phases;
pub mod rlm;
mod stages;
mod tools_loop;
