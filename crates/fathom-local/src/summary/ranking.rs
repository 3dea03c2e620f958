//! Order of importance of sentences.

use std::collections::{HashMap, HashSet};

use unicode_segmentation::UnicodeSegmentation as _;

use super::sentences::{SentenceKind, SentenceSpan, wording};
use crate::embedding::Embedding;

/// Maximum number of sentences that are embedded and compared. Of more, the most typical of each part are
/// taken.
pub(super) const CANDIDATES_MAX: usize = 512;

/// Weight of a sentence's similarity to the whole text, against its closeness to the beginning.
const CENTRALITY: f32 = 0.85;

/// Weight of a sentence's own relevance, against its similarity to sentences ranked before it.
const RELEVANCE: f32 = 0.7;

/// Above this similarity a plain sentence adds nothing. Rules and figures are never dropped for being alike:
/// `always` and `never` are near neighbours.
const ALIKE: f32 = 0.95;

/// Scores are compared in steps of a ten-thousandth, well above the differences between two processors.
const STEPS: f32 = 10_000.0;

/// The sentences to rank: no duplicates, and at most [`CANDIDATES_MAX`], rules first, then figures.
pub(super) fn candidates<'a>(sentences: &[SentenceSpan<'a>]) -> Vec<SentenceSpan<'a>> {
    let mut seen = HashSet::new();
    let once: Vec<SentenceSpan<'a>> = sentences
        .iter()
        .filter(|sentence| seen.insert(wording(sentence.text)))
        .copied()
        .collect();
    if once.len() <= CANDIDATES_MAX {
        return once;
    }
    let typical = CentroidRanking::of(&once);
    let mut chosen = Vec::new();
    for kind in [
        SentenceKind::Rule,
        SentenceKind::Figure,
        SentenceKind::Plain,
    ] {
        let all: Vec<SentenceSpan<'a>> = once
            .iter()
            .filter(|sentence| sentence.kind == kind)
            .copied()
            .collect();
        let room = CANDIDATES_MAX - chosen.len();
        if all.len() <= room {
            chosen.extend(all);
            continue;
        }
        for part in 0..room {
            let stretch = &all[part * all.len() / room..(part + 1) * all.len() / room];
            // The first of equals: `max_by` takes the last.
            let best = stretch
                .iter()
                .rev()
                .max_by_key(|sentence| typical.of_sentence(sentence.text));
            chosen.extend(best);
        }
    }
    chosen.sort_by_key(|sentence| sentence.start);
    chosen
}

/// Word counts of a text: a guess at its topic that needs no model.
struct CentroidRanking {
    counts: HashMap<String, u64>,
}

impl CentroidRanking {
    /// Minimum number of letters of a word that can be a topic.
    const LETTERS_MIN: usize = 4;

    fn of(sentences: &[SentenceSpan<'_>]) -> Self {
        let mut counts = HashMap::new();
        for word in sentences
            .iter()
            .flat_map(|sentence| Self::words(sentence.text))
        {
            *counts.entry(word).or_default() += 1;
        }
        Self { counts }
    }

    fn words(text: &str) -> impl Iterator<Item = String> {
        text.unicode_words()
            .filter(|word| word.chars().count() >= Self::LETTERS_MIN)
            .map(str::to_lowercase)
    }

    /// Mean count of a sentence's words, in hundredths.
    fn of_sentence(&self, text: &str) -> u64 {
        let (mut sum, mut words) = (0, 0);
        for word in Self::words(text) {
            sum += self.counts.get(&word).copied().unwrap_or_default();
            words += 1;
        }
        sum * 100 / (words + 1)
    }
}

/// All sentences without repetitions, most important first.
pub(super) fn rank<'s, 'a>(
    sentences: &'s [SentenceSpan<'a>],
    vectors: &[Embedding],
) -> Vec<&'s SentenceSpan<'a>> {
    let relevance = relevance(vectors);
    // Similarity of each sentence to the most similar one ranked so far.
    let mut alike = vec![0.0_f32; vectors.len()];
    let mut left: Vec<usize> = (0..sentences.len().min(vectors.len())).collect();
    let mut ranked = Vec::with_capacity(left.len());
    while let Some(at) = best(&left, sentences, &relevance, &alike) {
        let chosen = left.remove(at);
        ranked.push(&sentences[chosen]);
        for &other in &left {
            alike[other] = alike[other].max(vectors[chosen].cosine(&vectors[other]));
        }
        left.retain(|&other| sentences[other].kind != SentenceKind::Plain || alike[other] < ALIKE);
    }
    ranked
}

/// The next sentence: of those that demand most, the most valuable, and of equals the earliest.
fn best(
    left: &[usize],
    sentences: &[SentenceSpan<'_>],
    relevance: &[f32],
    alike: &[f32],
) -> Option<usize> {
    (0..left.len()).min_by_key(|&at| {
        let index = left[at];
        let score = RELEVANCE * relevance[index] - (1.0 - RELEVANCE) * alike[index];
        (sentences[index].kind, steps(-score), index)
    })
}

/// Relevance of each sentence by itself.
#[expect(
    clippy::cast_precision_loss,
    reason = "there are at most a few hundred candidates"
)]
fn relevance(vectors: &[Embedding]) -> Vec<f32> {
    let centre = Embedding::centre(vectors);
    vectors
        .iter()
        .enumerate()
        .map(|(index, vector)| {
            let centrality = centre.as_ref().map_or(0.0, |centre| vector.cosine(centre));
            let position = (1.0 + index as f32).recip();
            CENTRALITY * centrality + (1.0 - CENTRALITY) * position
        })
        .collect()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "scores lie between minus two and two"
)]
fn steps(score: f32) -> i32 {
    (score * STEPS).round() as i32
}

#[cfg(test)]
#[path = "ranking_tests.rs"]
mod tests;
