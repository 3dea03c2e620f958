//! The connected models of a run, and the embedded ones.

pub mod embedded;
mod embedder_error;
pub(crate) mod run_models;

pub use embedder_error::EmbedderError;
