//! Output: marked blocks and their channels, and the filters that all text passes.

mod block_router;
pub mod channels;
pub mod markers;
pub mod redact;
pub mod routes;
