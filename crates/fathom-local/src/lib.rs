//! Models that run in this process instead of on a server: the embedded language model, sentence embeddings,
//! the extractive summariser, and their weights.
//!
//! Absences: no text of a model that becomes a path; no weights in use whose hash was not checked; no abort of the
//! process on a request, however long.

pub mod embedding;
pub mod engine;
pub mod summary;
pub mod weights;
