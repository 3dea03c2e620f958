//! Reads files and folders into passages with their places, and finds those that a question is about.
//!
//! [`gather`] reads what the user names into [`Document`]s, and says what it left out and why. [`Library::index`] splits them
//! on their structure and makes them searchable: by their words (BM25) and, where an [`Embed`] is given, by what they mean.
//! [`Library::find`] gives the passages that matter for a [`Query`], whole and under a cap of tokens.
//!
//! Files are foreign: whatever is in them, reading ends, within the limits that are named in [`limits`], and without a
//! panic. Nothing here follows a link out of a folder, reads the network, starts a process or writes a file.

mod bm25;
mod decode;
mod error;
mod library;
mod meaning;
mod passage;
mod pdf;
mod rank;
mod read;
mod split;
mod subject;
mod unfold;
mod walk;
mod words;

pub mod limits;

pub use error::{EmbedError, MaterialError};
pub use library::{Library, Progress, Query};
pub use meaning::{Embed, Meaning, VectorKey, Vectors};
pub use passage::Passage;
pub use read::{Document, Format, Gathered, gather, gather_within, read_from};
pub use walk::{SkipReason, Skipped, source_name};
