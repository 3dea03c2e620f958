//! Output: marked blocks and their channels, and the filters that all text passes.

pub mod channels;
pub mod markers;
pub mod matrix;
pub mod redact;
