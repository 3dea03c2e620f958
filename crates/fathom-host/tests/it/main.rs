//! The embedded host through its public surface, against a scripted model server and a platform of its own.
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "what a test's fixture cannot do is the test's failure"
)]

mod convened;
mod council;
mod crowd;
mod delivering;
mod effects;
mod fixture;
mod governance;
mod killing;
mod learned;
mod own_program;
mod panel;
mod past_councils;
mod people;
mod planted;
mod rereading;
mod reuse;
mod rlm;
mod running;
mod weights;
