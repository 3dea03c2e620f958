//! Blocks with a marker at the start of a line, parsed from a stream, and the channels they go to.
//!
//! The parser is in the core, where programs read replies with it; [`BlockRouter`] delivers what it finds.

mod router;

pub use fathom_core::marker::{BlockKind, Marker, MarkerEvent, MarkerParser, blocks};
pub use router::{BLOCK_BYTES_MAX, BlockRouter};
