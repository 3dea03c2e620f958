//! Blocks with a marker at the start of a line, parsed from a stream, and the channels they go to.
//!
//! The parser is in the core, where programs read replies with it; [`BlockRouter`] delivers what it finds.

pub use crate::block_router::{BLOCK_BYTES_MAX, BlockRouter};
pub use fathom_core::channel::marker::{BlockKind, Marker, MarkerEvent, MarkerParser, blocks};
