//! What leaves: marked blocks and their channels, and the filters that every word passes.

pub mod channels;
pub mod markers;
pub mod matrix;
pub mod redact;
