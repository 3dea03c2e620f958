//! A host that does nothing by itself: each test says what comes back, and when.
#![expect(
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a test that expects another step fails where it says so"
)]

pub mod host;
pub mod log;
pub mod samples;
pub mod scripted_program;

pub use host::ManualHost;
