//! A host that does nothing by itself: each test says what comes back, and when.

pub mod host;
pub mod log;
pub mod samples;
pub mod scripted_program;

pub use host::ManualHost;
