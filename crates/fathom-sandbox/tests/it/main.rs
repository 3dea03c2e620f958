//! The sandbox through its public surface, with a real interpreter.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a fixture that cannot be built fails its test, and says where"
)]

mod attacks;
mod cells;
mod confined;
mod conformance;
mod fixture;
mod isolation;
mod limits;
mod material;
mod recipes;
mod recipes_tables;
mod sessions;
mod stage;
