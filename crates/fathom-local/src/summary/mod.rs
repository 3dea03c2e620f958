//! The extractive summariser: the most important sentences, unchanged.
//!
//! A text is split into sentences; each is ranked by its demands, its centrality, its position and its novelty
//! compared with those ranked before it; as many as fit are put back in the order of the source. Rules come
//! before figures, and both before the rest: a shortened instruction may lose its reasons, not its
//! prohibitions.
//!
//! Absences: no word that is not in the source; no part of a sentence, unless it has more than
//! [`sentences::SENTENCE_BYTES_MAX`] bytes; no randomness and no clock, so equal texts have equal summaries.

mod error;
mod ranking;
pub mod sentences;

use std::iter;
use std::ops::Range;
use std::sync::Arc;

pub use error::SummaryError;

use crate::embedding::{Embedding, EmbeddingError, SentenceEmbedder};
use ranking::{candidates, rank};
use sentences::{SentenceSpan, split};

/// Maximum size of a text.
pub const SOURCE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Number of non-fitting sentences that are skipped before the summary counts as full.
const MISSES_MAX: u32 = 64;

/// Maximum difference between the token count of two joined texts and the sum of their counts.
const SLACK_TOKENS: u64 = 8;

/// Turns sentences into vectors. Equal sentences have equal vectors, whatever they are embedded with.
pub trait SentenceVectors {
    /// One vector per sentence, in their order.
    fn vectors(&self, sentences: &[&str]) -> Result<Vec<Embedding>, EmbeddingError>;
}

impl SentenceVectors for SentenceEmbedder {
    fn vectors(&self, sentences: &[&str]) -> Result<Vec<Embedding>, EmbeddingError> {
        self.embed(sentences)
    }
}

impl<T: SentenceVectors + ?Sized> SentenceVectors for Arc<T> {
    fn vectors(&self, sentences: &[&str]) -> Result<Vec<Embedding>, EmbeddingError> {
        (**self).vectors(sentences)
    }
}

impl<T: SentenceVectors + ?Sized> SentenceVectors for &T {
    fn vectors(&self, sentences: &[&str]) -> Result<Vec<Embedding>, EmbeddingError> {
        (**self).vectors(sentences)
    }
}

/// Shortens texts.
#[derive(Clone, Debug)]
pub struct ExtractiveSummariser<V> {
    vectors: V,
}

/// A shortened text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtractiveSummary {
    /// The remaining text.
    pub text: String,
    /// Its size by the caller's counter.
    pub tokens: u64,
    /// Byte ranges of the sentences in the source, in order. A single range for a text that fitted whole.
    pub kept: Vec<Range<usize>>,
}

impl<V: SentenceVectors> ExtractiveSummariser<V> {
    /// A summariser on these vectors.
    pub fn new(vectors: V) -> Self {
        Self { vectors }
    }

    /// Shortens a text to at most `tokens_max` by the caller's counter. A text that fits is left as it is; one
    /// without a sentence that fits cannot be shortened.
    pub fn shorten(
        &self,
        text: &str,
        tokens_max: u32,
        count: &dyn Fn(&str) -> u64,
    ) -> Result<ExtractiveSummary, SummaryError> {
        if text.len() > SOURCE_BYTES_MAX {
            return Err(SummaryError::SourceTooLong {
                bytes: text.len(),
                bytes_max: SOURCE_BYTES_MAX,
            });
        }
        let whole = count(text);
        if whole <= u64::from(tokens_max) {
            return Ok(ExtractiveSummary {
                text: text.to_owned(),
                tokens: whole,
                kept: iter::once(0..text.len()).collect(),
            });
        }
        let sentences = split(text);
        let chosen = candidates(&sentences);
        let texts: Vec<&str> = chosen.iter().map(|sentence| sentence.text).collect();
        let vectors = self.vectors.vectors(&texts)?;
        let ranked = rank(&chosen, &vectors);
        let packing = SummaryPacking {
            source: text,
            tokens_max: tokens_max.into(),
            count,
        };
        packing
            .best(&ranked)
            .map_or_else(|| packing.shortest(&sentences, tokens_max), Ok)
    }
}

/// The available space.
struct SummaryPacking<'a> {
    source: &'a str,
    tokens_max: u64,
    count: &'a dyn Fn(&str) -> u64,
}

impl SummaryPacking<'_> {
    /// The longest beginning of the ranking that fits, and then whatever else still does. `None` if not one
    /// sentence fits.
    fn best(&self, ranked: &[&SentenceSpan<'_>]) -> Option<ExtractiveSummary> {
        let (mut fitting, mut end) = (0, ranked.len());
        let mut best = None;
        // By halving: every additional sentence takes more tokens.
        while fitting < end {
            let middle = (fitting + end).div_ceil(2);
            let summary = self.join(&ranked[..middle]);
            if summary.tokens <= self.tokens_max {
                fitting = middle;
                best = Some(summary);
            } else {
                end = middle - 1;
            }
        }
        let mut kept = ranked[..fitting].to_vec();
        let mut misses = 0;
        // The first of the rest is the one that made the beginning too long.
        for sentence in ranked.iter().skip(fitting + 1) {
            let tokens = best.as_ref().map_or(0, |summary| summary.tokens);
            let room = self.tokens_max - tokens + SLACK_TOKENS;
            if (self.count)(sentence.text) > room {
                continue;
            }
            kept.push(sentence);
            let summary = self.join(&kept);
            if summary.tokens <= self.tokens_max {
                best = Some(summary);
                continue;
            }
            kept.pop();
            misses += 1;
            if misses == MISSES_MAX {
                break;
            }
        }
        best
    }

    /// The shortest sentence of all, if it fits.
    fn shortest(
        &self,
        sentences: &[SentenceSpan<'_>],
        tokens_max: u32,
    ) -> Result<ExtractiveSummary, SummaryError> {
        let shortest = sentences
            .iter()
            .map(|sentence| self.join(&[sentence]))
            .min_by_key(|summary| summary.tokens)
            // A blank text has no sentences, and its summary is empty.
            .unwrap_or_else(|| self.join(&[]));
        if shortest.tokens <= self.tokens_max {
            return Ok(shortest);
        }
        Err(SummaryError::TargetTooSmall {
            least_tokens: shortest.tokens,
            tokens_max,
        })
    }

    /// Joins sentences in the order of the source. A line break between two of them is kept.
    fn join(&self, sentences: &[&SentenceSpan<'_>]) -> ExtractiveSummary {
        let mut kept: Vec<Range<usize>> =
            sentences.iter().map(|sentence| sentence.range()).collect();
        kept.sort_by_key(|range| range.start);
        let mut text = String::new();
        let mut last_end = None;
        for range in &kept {
            if let Some(end) = last_end {
                let between = &self.source[end..range.start];
                if between.contains('\n') {
                    text.push('\n');
                } else if !between.is_empty() {
                    text.push(' ');
                }
            }
            text.push_str(&self.source[range.clone()]);
            last_end = Some(range.end);
        }
        ExtractiveSummary {
            tokens: (self.count)(&text),
            text,
            kept,
        }
    }
}

#[cfg(test)]
#[path = "summary_tests.rs"]
mod tests;
