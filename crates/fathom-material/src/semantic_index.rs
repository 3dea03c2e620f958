//! Semantic search: vectors of texts, computed once and cached.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::error::{BoxedEmbedError, MaterialError};
use crate::limits::EMBED_BATCH;

/// Turns texts into vectors that are close together if the texts have similar meanings.
pub trait TextEmbedder: Send + Sync {
    /// The model's name. Vectors of different models are never compared.
    fn model(&self) -> &str;

    /// The vectors of texts, in order, all of one length.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, BoxedEmbedError>;
}

/// A cache of vectors between runs. It may drop anything, and it never fails.
pub trait VectorStore: Send + Sync {
    /// The cached vectors, in the order of the keys.
    fn get(&self, keys: &[VectorKey]) -> Vec<Option<Vec<f32>>>;

    /// Stores vectors.
    fn put(&self, vectors: &[(VectorKey, Vec<f32>)]);
}

/// Key of a text under an embedding model: SHA-256 of both.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct VectorKey(pub [u8; 32]);

impl VectorKey {
    /// The key of a text under a model.
    pub fn new(model: &str, text: &str) -> Self {
        let mut hash = Sha256::new();
        hash.update((model.len() as u64).to_le_bytes());
        hash.update(model);
        hash.update(text);
        Self(hash.finalize().into())
    }
}

impl fmt::Debug for VectorKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// An embedding model, and the cache of its vectors.
#[derive(Clone)]
pub struct SemanticIndex {
    embed: Arc<dyn TextEmbedder>,
    kept: Option<Arc<dyn VectorStore>>,
}

impl fmt::Debug for SemanticIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meaning")
            .field("model", &self.embed.model())
            .finish_non_exhaustive()
    }
}

impl SemanticIndex {
    /// Vectors of this model, without a cache.
    pub fn new(embed: Arc<dyn TextEmbedder>) -> Self {
        Self { embed, kept: None }
    }

    /// Adds a cache.
    #[must_use]
    pub fn kept_in(mut self, vectors: Arc<dyn VectorStore>) -> Self {
        self.kept = Some(vectors);
        self
    }

    /// The directions of texts, in order; cached ones are not computed. Reports each finished batch.
    pub(crate) fn of(
        &self,
        texts: &[&str],
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<UnitVectors, MaterialError> {
        let model = self.embed.model();
        let keys: Vec<VectorKey> = texts
            .iter()
            .map(|text| VectorKey::new(model, text))
            .collect();
        let mut known: HashMap<VectorKey, Vec<f32>> = HashMap::new();
        if let Some(kept) = &self.kept {
            let found = keys.iter().zip(kept.get(&keys));
            known.extend(found.filter_map(|(key, vector)| Some((*key, unit(vector?)?))));
        }
        let mut missing: Vec<(VectorKey, &str)> = Vec::new();
        for (key, text) in keys.iter().zip(texts) {
            if !known.contains_key(key) {
                // A placeholder: a text that occurs twice is computed once.
                known.insert(*key, Vec::new());
                missing.push((*key, text));
            }
        }
        let total = missing.len();
        for (index, batch) in missing.chunks(EMBED_BATCH).enumerate() {
            let new = self.embed_batch(batch)?;
            if let Some(kept) = &self.kept {
                // Batch by batch, so that an interrupted run loses one batch at most.
                kept.put(&new);
            }
            known.extend(new);
            progress((index * EMBED_BATCH + batch.len()).min(total), total);
        }
        let mut directions = UnitVectors::default();
        for key in &keys {
            directions.push(known.get(key).map_or(&[], Vec::as_slice))?;
        }
        Ok(directions)
    }

    fn embed_batch(
        &self,
        batch: &[(VectorKey, &str)],
    ) -> Result<Vec<(VectorKey, Vec<f32>)>, MaterialError> {
        let texts: Vec<&str> = batch.iter().map(|(_, text)| *text).collect();
        let vectors = self
            .embed
            .embed(&texts)
            .map_err(|source| MaterialError::Embedding { source })?;
        if vectors.len() != texts.len() {
            let what = format!("{} vectors for {} texts", vectors.len(), texts.len());
            return Err(MaterialError::BadVectors { what });
        }
        let units = vectors.into_iter().map(unit);
        let keyed = batch
            .iter()
            .zip(units)
            .map(|((key, _), vector)| Some((*key, vector?)));
        keyed
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| MaterialError::BadVectors {
                what: "NaN or infinite values".to_owned(),
            })
    }
}

/// Unit vectors, or zeros.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnitVectors {
    dimensions: usize,
    numbers: Vec<f32>,
}

impl UnitVectors {
    pub(crate) fn push(&mut self, vector: &[f32]) -> Result<(), MaterialError> {
        if self.numbers.is_empty() {
            self.dimensions = vector.len();
        }
        if vector.len() != self.dimensions || vector.is_empty() {
            let what = format!(
                "vectors of {} and of {} numbers",
                self.dimensions,
                vector.len()
            );
            return Err(MaterialError::BadVectors { what });
        }
        self.numbers.extend_from_slice(vector);
        Ok(())
    }

    pub(crate) fn append(&mut self, others: &Self) -> Result<(), MaterialError> {
        others.iter().try_for_each(|vector| self.push(vector))
    }

    pub(crate) fn dimensions(&self) -> usize {
        self.dimensions
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[f32]> {
        self.numbers.chunks_exact(self.dimensions.max(1))
    }

    /// Cosine of each of these with a direction.
    pub(crate) fn cosines(&self, direction: &[f32]) -> Vec<f32> {
        self.iter()
            .map(|vector| cosine(vector, direction))
            .collect()
    }

    /// Cosine of two of these.
    pub(crate) fn between(&self, a: usize, b: usize) -> f32 {
        cosine(self.at(a), self.at(b))
    }

    pub(crate) fn at(&self, index: usize) -> &[f32] {
        let start = index * self.dimensions;
        self.numbers
            .get(start..start + self.dimensions)
            .unwrap_or_default()
    }
}

pub(crate) fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The vector scaled to length one; `None` if it has no direction.
pub(crate) fn unit(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if !length.is_finite() || vector.is_empty() {
        return None;
    }
    if length > 0.0 {
        for x in &mut vector {
            *x /= length;
        }
    }
    Some(vector)
}
