//! Which passages are about the subject of a question.
//!
//! A question has few words, and a passage may say the same in others. So the passages that are clearly near to a question
//! are examples of its subject, and what is near to the examples is about it too. All of it is measured from the centre of
//! the material: what all passages have in common tells none from another.

use crate::meaning::{Directions, cosine, unit};
use crate::rank::order;

/// Least cosine, from the centre, at which a passage is an example of a question's subject. Passages on other things stay
/// below.
const EXAMPLE_COSINE_MIN: f32 = 0.22;

/// Fewest examples that tell what a subject is, and most that are looked at.
const EXAMPLES_MIN: usize = 2;
const EXAMPLES_MAX: usize = 8;

/// What the examples weigh against the question itself.
const EXAMPLES_WEIGHT: f32 = 2.0;

/// Passages whose mean stands for those that are most about a subject.
const BEST: usize = 3;

/// Least that the best passages count for, so that noise is not blown up.
const BEST_MIN: f32 = 0.05;

/// As many passages as must be there for half of their mean to be what all have in common.
const HALF_CENTRE_PASSAGES: f32 = 50.0;

/// Passages as they are seen from the centre of the material.
pub(crate) struct Centred<'a> {
    directions: &'a Directions,
    centre: Vec<f32>,
    /// How far each passage is from the centre.
    lengths: Vec<f32>,
}

/// How much passages are about a subject.
pub(crate) struct Subject {
    /// Cosine of each passage with the subject, from the centre.
    pub(crate) cosines: Vec<f32>,
    /// The same as shares of what the best passages have.
    pub(crate) shares: Vec<f32>,
    /// Whether examples told what the subject is, or the question alone.
    pub(crate) has_examples: bool,
}

impl<'a> Centred<'a> {
    #[expect(
        clippy::cast_precision_loss,
        reason = "a mean over passages needs no more digits"
    )]
    pub(crate) fn new(directions: &'a Directions) -> Self {
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
            squares.sum::<f32>().sqrt().max(f32::MIN_POSITIVE)
        };
        Self {
            lengths: directions.iter().map(length).collect(),
            directions,
            centre,
        }
    }

    /// The direction in which something lies from the centre.
    pub(crate) fn towards(&self, direction: &[f32]) -> Vec<f32> {
        let mut towards = direction.to_vec();
        add(&mut towards, &self.centre, -1.0);
        unit(towards).unwrap_or_default()
    }

    /// How near each passage is to a direction from the centre.
    pub(crate) fn cosines(&self, towards: &[f32]) -> Vec<f32> {
        let of_centre = cosine(&self.centre, towards);
        let along = self.directions.cosines(towards);
        let pairs = along.iter().zip(&self.lengths);
        pairs
            .map(|(along, length)| (along - of_centre) / length)
            .collect()
    }

    /// How much each passage is about what a question is about.
    pub(crate) fn subject(&self, question: &[f32]) -> Subject {
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
        Subject {
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
#[path = "subject_tests.rs"]
mod tests;
