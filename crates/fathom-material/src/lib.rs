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
mod decompress;
mod error;
pub mod limits;
mod passage;
mod passage_index;
mod pdf;
mod rank_fusion;
mod read_documents;
mod semantic_index;
mod split;
mod subject_score;
mod terms;
mod walk;

pub use error::{BoxedEmbedError, MaterialError};
pub use passage::Passage;
pub use passage_index::{EmbedProgress, PassageIndex, PassageQuery};
pub use read_documents::{
    DocumentFormat, GatheredMaterial, MaterialDocument, gather, gather_within, read_from,
};
pub use semantic_index::{SemanticIndex, TextEmbedder, VectorKey, VectorStore};
pub use walk::{SkipReason, SkippedFile, source_name};
