//! Blocks with a mark at the start of a line, read from a stream, and the channels they go to.
//!
//! The parser is in the core, where programs read replies with it; [`Router`] sends what it reads on its way.

mod router;

pub use fathom_core::marker::{BlockKind, Marker, Parser, Piece, blocks};
pub use router::{BLOCK_BYTES_MAX, Router};
