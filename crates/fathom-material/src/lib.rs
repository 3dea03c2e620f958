//! Reads files and folders into passages with their positions, and finds those that a question is about.
//!
//! [`gather`] reads what the user names into [`MaterialDocument`]s, and reports what it left out and why.
//! [`PassageIndex::index`] splits them along their structure and makes them searchable: by words (BM25) and, with an
//! [`TextEmbedder`], by meaning. [`PassageIndex::find`] returns the passages relevant to a [`PassageQuery`], whole and within a
//! limit of tokens.
//!
//! Files are untrusted: whatever they contain, reading ends, within the limits in [`limits`], and without a
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

pub use error::{BoxedEmbedError, MaterialError};
pub use library::{EmbedProgress, PassageIndex, PassageQuery};
pub use meaning::{SemanticIndex, TextEmbedder, VectorKey, VectorStore};
pub use passage::Passage;
pub use read::{
    DocumentFormat, GatheredMaterial, MaterialDocument, gather, gather_within, read_from,
};
pub use walk::{SkipReason, SkippedFile, source_name};
