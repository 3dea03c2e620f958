//! Relevance of passages to the subject of a question.
//!
//! A question has few words, and a passage may express the same in others. So the passages that are clearly
//! close to a question serve as examples of its subject, and passages close to the examples are about it too.
//! Everything is measured from the centre of the material: what all passages have in common distinguishes none
//! of them.

use crate::rank_fusion::order;
use crate::semantic_index::{UnitVectors, cosine, unit};

/// Minimum cosine, from the centre, at which a passage is an example of a question's subject. Passages about
/// other things stay below.
const EXAMPLE_COSINE_MIN: f32 = 0.22;

/// Minimum number of examples that define a subject, and maximum number used.
const EXAMPLES_MIN: usize = 2;
const EXAMPLES_MAX: usize = 8;

/// Weight of the examples against the question itself.
const EXAMPLES_WEIGHT: f32 = 2.0;

/// Number of best passages whose mean is the reference for shares.
const BEST: usize = 3;

/// Minimum of that reference, so that noise is not amplified.
const BEST_MIN: f32 = 0.05;

/// Number of passages at which half of their mean counts as common to all.
const HALF_CENTRE_PASSAGES: f32 = 50.0;

/// Passages as seen from the centre of the material.
pub(crate) struct CentredVectors<'a> {
    directions: &'a UnitVectors,
    centre: Vec<f32>,
    /// Distance of each passage from the centre.
    lengths: Vec<f32>,
}

/// Relevance of passages to a subject.
pub(crate) struct SubjectScore {
    /// Cosine of each passage with the subject, from the centre.
    pub(crate) cosines: Vec<f32>,
    /// The same as shares of the best passages' cosine.
    pub(crate) shares: Vec<f32>,
    /// True if examples defined the subject, and not only the question.
    pub(crate) has_examples: bool,
}

impl<'a> CentredVectors<'a> {
    #[expect(
        clippy::cast_precision_loss,
        reason = "a mean over passages needs no more digits"
    )]
    pub(crate) fn new(directions: &'a UnitVectors) -> Self {
        let mut centre = vec![0.0; directions.dimensions()];
        let mut count = 0_usize;
        for direction in directions.iter() {
            add(&mut centre, direction, 1.0);
            count += 1;
        }
        for number in &mut centre {
            *number /= count as f32 + HALF_CENTRE_PASSAGES;
        }
        let length = |direction: &[f32]| {
            let squares = direction
                .iter()
                .zip(&centre)
                .map(|(a, b)| (a - b) * (a - b));
            // A passage at the centre itself has no direction from it.
            squares.sum::<f32>().sqrt().max(f32::MIN_POSITIVE)
        };
        Self {
            lengths: directions.iter().map(length).collect(),
            directions,
            centre,
        }
    }

    /// The direction of a vector from the centre.
    pub(crate) fn towards(&self, direction: &[f32]) -> Vec<f32> {
        let mut towards = direction.to_vec();
        add(&mut towards, &self.centre, -1.0);
        unit(towards).unwrap_or_default()
    }

    /// Cosine of each passage with a direction from the centre.
    pub(crate) fn cosines(&self, towards: &[f32]) -> Vec<f32> {
        let of_centre = cosine(&self.centre, towards);
        let along = self.directions.cosines(towards);
        let pairs = along.iter().zip(&self.lengths);
        pairs
            .map(|(along, length)| (along - of_centre) / length)
            .collect()
    }

    /// Relevance of each passage to the subject of a question.
    pub(crate) fn subject(&self, question: &[f32]) -> SubjectScore {
        let asked = self.towards(question);
        let near = self.cosines(&asked);
        let mut examples = order(&near, |at| near[at] >= EXAMPLE_COSINE_MIN);
        examples.truncate(EXAMPLES_MAX);
        let has_examples = examples.len() >= EXAMPLES_MIN;
        let cosines = if has_examples {
            let mut shown = vec![0.0; asked.len()];
            for at in examples {
                add(&mut shown, &self.towards(self.directions.at(at)), near[at]);
            }
            let mut subject = asked;
            add(
                &mut subject,
                &unit(shown).unwrap_or_default(),
                EXAMPLES_WEIGHT,
            );
            self.cosines(&unit(subject).unwrap_or_default())
        } else {
            near
        };
        let best = best(&cosines);
        SubjectScore {
            shares: cosines.iter().map(|cosine| cosine / best).collect(),
            cosines,
            has_examples,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "they are few")]
fn best(cosines: &[f32]) -> f32 {
    let mut best = cosines.to_vec();
    best.sort_by(|a, b| b.total_cmp(a));
    best.truncate(BEST);
    let mean = best.iter().sum::<f32>() / best.len().max(1) as f32;
    mean.max(BEST_MIN)
}

fn add(to: &mut [f32], what: &[f32], times: f32) {
    for (to, what) in to.iter_mut().zip(what) {
        *to += times * what;
    }
}

#[cfg(test)]
#[path = "subject_score_tests.rs"]
mod tests;
