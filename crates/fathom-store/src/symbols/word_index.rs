//! Search by words: BM25 over stems. A query is words and nothing else: it has no syntax.

use std::collections::{HashMap, HashSet};

use rust_stemmers::{Algorithm, Stemmer};
use unicode_segmentation::UnicodeSegmentation as _;

use super::vector_index::{VectorHit, best};

/// Saturation: how quickly repetitions of a word stop counting.
// The customary parameters of BM25.
const K1: f32 = 1.2;

/// Strength of the correction for the length of a text.
const B: f32 = 0.75;

/// Inverted index of words. Texts are in consecutive slots.
#[derive(Default)]
pub(super) struct WordIndex {
    /// Slots and counts by stem.
    postings: HashMap<String, Vec<(u32, f32)>>,
    /// Number of words of each slot; zero in an emptied one.
    lengths: Vec<f32>,
    filled: u32,
    length_of_all: f64,
}

impl WordIndex {
    /// Puts a text in the next slot.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a symbol has far fewer words than an f32 counts exactly"
    )]
    pub(super) fn add(&mut self, text: &str) {
        let slot = u32::try_from(self.lengths.len()).unwrap_or(u32::MAX);
        let mut stems = stems(text);
        // A text without words still has a slot, and a length of 0 would mark it as empty.
        let length = stems.len().max(1) as f32;
        self.lengths.push(length);
        self.length_of_all += f64::from(length);
        self.filled += 1;
        stems.sort_unstable();
        for same in stems.chunk_by(|a, b| a == b) {
            let times = same.len() as f32;
            self.postings
                .entry(same[0].clone())
                .or_default()
                .push((slot, times));
        }
    }

    /// Empties a slot.
    pub(super) fn remove(&mut self, slot: u32) {
        let length = std::mem::take(&mut self.lengths[slot as usize]);
        self.length_of_all -= f64::from(length);
        self.filled -= u32::from(length > 0.0);
    }

    /// The slots that match best, best first. The similarity is the share of the best possible score.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "scores are compared, and need no more digits"
    )]
    pub(super) fn search(&self, text: &str, limit: usize) -> Vec<VectorHit> {
        let count = self.filled as f32;
        let mean = (self.length_of_all / f64::from(count.max(1.0))) as f32;
        let asked: HashSet<String> = stems(text).into_iter().collect();
        let mut scores: HashMap<u32, f32> = HashMap::new();
        let mut all = 0.0;
        for stem in &asked {
            let postings = self.postings.get(stem).map_or(&[][..], Vec::as_slice);
            let filled = |&&(slot, _): &&(u32, f32)| self.lengths[slot as usize] > 0.0;
            let with = postings.iter().filter(filled).count() as f32;
            let rarity = (1.0 + (count - with + 0.5) / (with + 0.5)).ln();
            all += rarity * (K1 + 1.0);
            for &(slot, times) in postings.iter().filter(filled) {
                let length = 1.0 - B + B * self.lengths[slot as usize] / mean;
                let score = rarity * times * (K1 + 1.0) / (times + K1 * length);
                *scores.entry(slot).or_default() += score;
            }
        }
        let hits = scores.into_iter().map(|(slot, score)| VectorHit {
            slot,
            near: score / all,
        });
        best(hits.collect(), limit)
    }
}

/// The stems of a text's words. Signs that are not words count too, since symbols are known by them.
fn stems(text: &str) -> Vec<String> {
    let stemmer = Stemmer::create(Algorithm::English);
    let is_filler = |c: char| c.is_whitespace() || c.is_control() || c.is_ascii_punctuation();
    text.split_word_bounds()
        .filter(|word| !word.chars().all(is_filler))
        .map(|word| stemmer.stem(&word.to_lowercase()).into_owned())
        .collect()
}
