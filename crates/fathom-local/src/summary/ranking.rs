//! Which sentences come first.

use std::collections::{HashMap, HashSet};

use unicode_segmentation::UnicodeSegmentation as _;

use super::sentences::{Kind, Sentence, wording};
use crate::embedding::Embedding;

/// Sentences that are embedded and compared with each other. Of more than that the most typical of each stretch are taken.
pub(super) const CANDIDATES_MAX: usize = 512;

/// Weight of being near to what the text is about, against standing at its beginning.
const CENTRALITY: f32 = 0.85;

/// Weight of what a sentence is in itself, against not repeating what was ranked before it.
const RELEVANCE: f32 = 0.7;

/// Above this a plain sentence says nothing new. Rules and figures are never dropped for being alike: `always` and `never`
/// are near neighbours.
const ALIKE: f32 = 0.95;

/// Scores are compared in steps of a ten-thousandth, well above what two processors may differ by.
const STEPS: f32 = 10_000.0;

/// What is worth ranking: no sentence twice, and at most [`CANDIDATES_MAX`], rules first, then figures.
pub(super) fn candidates<'a>(sentences: &[Sentence<'a>]) -> Vec<Sentence<'a>> {
    let mut seen = HashSet::new();
    let once: Vec<Sentence<'a>> = sentences
        .iter()
        .filter(|sentence| seen.insert(wording(sentence.text)))
        .copied()
        .collect();
    if once.len() <= CANDIDATES_MAX {
        return once;
    }
    let typical = Typical::of(&once);
    let mut chosen = Vec::new();
    for kind in [Kind::Rule, Kind::Figure, Kind::Plain] {
        let all: Vec<Sentence<'a>> = once
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

/// How often the words of a text occur in it: a guess at what it is about that needs no model.
struct Typical {
    counts: HashMap<String, u64>,
}

impl Typical {
    /// Letters from which on a word is about something.
    const LETTERS_MIN: usize = 4;

    fn of(sentences: &[Sentence<'_>]) -> Self {
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

    /// The mean over a sentence's words, in hundredths.
    fn of_sentence(&self, text: &str) -> u64 {
        let (mut sum, mut words) = (0, 0);
        for word in Self::words(text) {
            sum += self.counts.get(&word).copied().unwrap_or_default();
            words += 1;
        }
        sum * 100 / (words + 1)
    }
}

/// All sentences but those that only repeat, the first to keep first.
pub(super) fn rank<'s, 'a>(
    sentences: &'s [Sentence<'a>],
    vectors: &[Embedding],
) -> Vec<&'s Sentence<'a>> {
    let relevance = relevance(vectors);
    // How much a sentence is like the one most like it of those ranked already.
    let mut alike = vec![0.0_f32; vectors.len()];
    let mut left: Vec<usize> = (0..sentences.len().min(vectors.len())).collect();
    let mut ranked = Vec::with_capacity(left.len());
    while let Some(at) = best(&left, sentences, &relevance, &alike) {
        let chosen = left.remove(at);
        ranked.push(&sentences[chosen]);
        for &other in &left {
            alike[other] = alike[other].max(vectors[chosen].cosine(&vectors[other]));
        }
        left.retain(|&other| sentences[other].kind != Kind::Plain || alike[other] < ALIKE);
    }
    ranked
}

/// The next to rank: of what demands most, what is worth most, and of equals the earliest.
fn best(
    left: &[usize],
    sentences: &[Sentence<'_>],
    relevance: &[f32],
    alike: &[f32],
) -> Option<usize> {
    (0..left.len()).min_by_key(|&at| {
        let index = left[at];
        let score = RELEVANCE * relevance[index] - (1.0 - RELEVANCE) * alike[index];
        (sentences[index].kind, steps(-score), index)
    })
}

/// What each sentence is worth by itself.
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
