//! Errors of the embedding model and of what needs it.

use std::sync::Arc;

use fathom_local::embedding::EmbeddingError;
use fathom_local::summary::SummaryError;
use fathom_local::weights::WeightsError;

use crate::error::HostError;

/// The embedding model is not available. It can be cloned, since a failed load is kept for later askers: weights do not
/// appear while a process runs, and each attempt would read them again.
#[derive(Clone, Debug, thiserror::Error)]
pub enum EmbedderError {
    /// The catalogue of weights cannot be read.
    #[error(transparent)]
    Catalogue(Arc<HostError>),
    /// The weights cannot be found.
    #[error(transparent)]
    Weights(Arc<WeightsError>),
    /// A file of the weights is missing.
    #[error("`{name}` is incomplete")]
    Incomplete { name: &'static str },
    /// The weights cannot be loaded, or a text cannot be embedded.
    #[error(transparent)]
    Embedding(Arc<EmbeddingError>),
}

impl From<EmbeddingError> for EmbedderError {
    fn from(error: EmbeddingError) -> Self {
        Self::Embedding(Arc::new(error))
    }
}

/// A text cannot be shortened in this process.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ShortenError {
    /// The summariser has no embedding model.
    #[error(transparent)]
    Embedder(#[from] EmbedderError),
    /// The text does not get short enough.
    #[error(transparent)]
    Summary(#[from] SummaryError),
}
