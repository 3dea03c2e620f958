//! An embedding model for tests: it knows groups of words that mean the same.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use fathom_material::{BoxedEmbedError, TextEmbedder, VectorKey, VectorStore};

const MEANINGS: [&[&str]; 8] = [
    &["database", "records", "tables"],
    &["move", "relocate", "carry"],
    &["security", "intruder", "lock", "password"],
    &["cost", "money", "budget", "purse"],
    &["bread", "oven", "flour"],
    &["garden", "roses", "beech"],
    &["insurance"],
    &["backups"],
];

#[derive(Default)]
pub(crate) struct Toy {
    pub(crate) embedded: AtomicUsize,
}

impl TextEmbedder for Toy {
    fn model(&self) -> &'static str {
        "toy"
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, BoxedEmbedError> {
        self.embedded.fetch_add(texts.len(), Ordering::Relaxed);
        Ok(texts.iter().map(|text| vector(text)).collect())
    }
}

fn vector(text: &str) -> Vec<f32> {
    let text = text.to_lowercase();
    let has = |words: &&[&str]| words.iter().any(|word| text.contains(word));
    // The last number keeps a text that means nothing from being no direction at all.
    MEANINGS
        .iter()
        .map(|words| if has(words) { 1.0 } else { 0.0 })
        .chain([0.1])
        .collect()
}

/// Keeps vectors in memory.
#[derive(Default)]
pub(crate) struct Memory(pub(crate) Mutex<HashMap<VectorKey, Vec<f32>>>);

impl VectorStore for Memory {
    fn get(&self, keys: &[VectorKey]) -> Vec<Option<Vec<f32>>> {
        let kept = self.0.lock().unwrap();
        keys.iter().map(|key| kept.get(key).cloned()).collect()
    }

    fn put(&self, vectors: &[(VectorKey, Vec<f32>)]) {
        self.0.lock().unwrap().extend(vectors.iter().cloned());
    }
}
