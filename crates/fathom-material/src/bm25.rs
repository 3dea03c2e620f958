//! Keyword search with BM25.

use crate::terms::{QueryTerms, TermId};

/// Saturation: how quickly repetitions of a word stop counting.
// The customary parameters of BM25.
const K1: f32 = 1.2;

/// Strength of the correction for the length of a passage.
const B: f32 = 0.75;

/// Inverted index of the passages' terms.
#[derive(Debug, Default)]
pub(crate) struct Bm25Index {
    /// Passages and counts by term.
    postings: Vec<Vec<(u32, f32)>>,
    /// Number of terms of each passage.
    lengths: Vec<f32>,
    length_of_all: f64,
}

impl Bm25Index {
    /// Adds the next passage.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a passage has far fewer words than an f32 counts exactly"
    )]
    pub(crate) fn add(&mut self, mut terms: Vec<TermId>) {
        let passage = u32::try_from(self.lengths.len()).unwrap_or(u32::MAX);
        self.lengths.push(terms.len() as f32);
        self.length_of_all += terms.len() as f64;
        terms.sort_unstable();
        for same in terms.chunk_by(|a, b| a == b) {
            let term = same[0].0 as usize;
            if term >= self.postings.len() {
                self.postings.resize_with(term + 1, Vec::new);
            }
            self.postings[term].push((passage, same.len() as f32));
        }
    }

    /// BM25 score of each passage, as a share of the score of a passage that has every asked term once.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "scores are compared, and need no more digits"
    )]
    pub(crate) fn shares(&self, asked: &QueryTerms) -> Vec<f32> {
        let count = self.lengths.len() as f32;
        let mean = (self.length_of_all / f64::from(count.max(1.0))) as f32;
        let rarity = |with: f32| (1.0 + (count - with + 0.5) / (with + 0.5)).ln();
        let mut shares = vec![0.0; self.lengths.len()];
        // Terms that no passage has count too: a passage must not look complete because the rest of the
        // question is unknown here.
        let mut all = rarity(0.0) * asked.unknown as f32;
        for term in &asked.known {
            let Some(postings) = self.postings.get(term.0 as usize) else {
                continue;
            };
            let rarity = rarity(postings.len() as f32);
            all += rarity;
            for &(passage, times) in postings {
                let passage = passage as usize;
                let length = 1.0 - B + B * self.lengths[passage] / mean;
                shares[passage] += rarity * times * (K1 + 1.0) / (times + K1 * length);
            }
        }
        for share in &mut shares {
            *share /= all.max(f32::MIN_POSITIVE);
        }
        shares
    }
}
