//! Joins the material that users give with the embedding model and the vectors that are kept.

use std::sync::Arc;

use fathom_local::embedding::{DIMENSIONS, SentenceEmbedder};
use fathom_material::{BoxedEmbedError, SemanticIndex, TextEmbedder, VectorKey, VectorStore};
use fathom_store::VectorCache;

use crate::models::embedded::EmbeddedModels;

/// The name under which vectors of the embedding model are kept. Another way of computing them needs another name.
const MODEL: &str = "all-MiniLM-L6-v2/f32/256";

/// The embedding model for symbols; none where its weights are not there.
pub(crate) fn symbol_embedding(
    embedded: &Arc<EmbeddedModels>,
) -> Option<Arc<dyn fathom_store::symbols::Embed>> {
    match embedded.embedder() {
        Ok(model) => Some(Arc::new(MiniLm(model))),
        Err(why) => {
            tracing::info!(%why, "searching symbols by keywords only");
            None
        }
    }
}

/// Search by meaning with the embedding model; vectors are kept where a cache is given.
pub fn meaning(embedder: Arc<SentenceEmbedder>, cache: Option<VectorCache>) -> SemanticIndex {
    let meaning = SemanticIndex::new(Arc::new(MiniLm(embedder)));
    match cache {
        Some(cache) => meaning.kept_in(Arc::new(KeptVectors(cache))),
        None => meaning,
    }
}

struct MiniLm(Arc<SentenceEmbedder>);

impl TextEmbedder for MiniLm {
    fn model(&self) -> &str {
        MODEL
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, BoxedEmbedError> {
        let embeddings = self.0.embed(texts)?;
        Ok(embeddings
            .iter()
            .map(|embedding| embedding.as_slice().to_vec())
            .collect())
    }
}

impl fathom_store::symbols::Embed for MiniLm {
    fn name(&self) -> &str {
        MODEL
    }

    fn dimensions(&self) -> usize {
        DIMENSIONS
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, fathom_store::symbols::EmbedFailed> {
        TextEmbedder::embed(self, texts)
            .map_err(|error| fathom_store::symbols::EmbedFailed(error.to_string()))
    }
}

struct KeptVectors(VectorCache);

impl VectorStore for KeptVectors {
    fn get(&self, keys: &[VectorKey]) -> Vec<Option<Vec<f32>>> {
        let hashes: Vec<_> = keys.iter().map(|key| key.0).collect();
        self.0.get(MODEL, &hashes)
    }

    fn put(&self, vectors: &[(VectorKey, Vec<f32>)]) {
        let vectors: Vec<_> = vectors
            .iter()
            .map(|(key, vector)| (key.0, vector.clone()))
            .collect();
        self.0.put(MODEL, &vectors);
    }
}
