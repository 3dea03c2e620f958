//! What leaves, tested from outside.

mod markers;
mod redact;
