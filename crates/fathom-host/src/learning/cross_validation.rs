//! Cross-validation: how a rule does on runs that it has not seen.

use fathom_core::unit::PerMille;

use super::logistic_regression::{count, fit};
use super::{LearnError, TrainingExample, share};

/// Parts into which the examples are divided.
pub const FOLDS: usize = 5;

/// Score of a rule on examples that it was not fitted to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FoldScore {
    /// Changes that it foretold.
    pub hits: u32,
    /// Changes that it foretold and that did not come.
    pub false_alarms: u32,
    /// Changes that it did not foretell.
    pub misses: u32,
    /// Unchanged decisions that it foretold.
    pub passes: u32,
    /// Examples that are told right by always giving the commoner answer of the others.
    pub baseline_right: u32,
}

impl FoldScore {
    /// Examples.
    pub fn count(&self) -> u32 {
        self.hits + self.false_alarms + self.misses + self.passes
    }

    /// Examples it told right.
    pub fn right(&self) -> u32 {
        self.hits + self.passes
    }

    /// Share that it told right.
    pub fn accuracy(&self) -> PerMille {
        share(self.right(), self.count())
    }

    /// Share of the changes it foretold that came; none when it foretold none.
    pub fn precision(&self) -> Option<PerMille> {
        let foretold = self.hits + self.false_alarms;
        (foretold > 0).then(|| share(self.hits, foretold))
    }

    /// Share of the changes that it foretold; none when there were none.
    pub fn recall(&self) -> Option<PerMille> {
        let came = self.hits + self.misses;
        (came > 0).then(|| share(self.hits, came))
    }

    /// Share that is right when always the commoner answer is given.
    pub fn baseline(&self) -> PerMille {
        share(self.baseline_right, self.count())
    }
}

/// Fits to all folds but one and looks at that one, for each.
pub(super) fn cross_validate(examples: &[TrainingExample]) -> Result<Vec<FoldScore>, LearnError> {
    let places = places(examples);
    (0..FOLDS)
        .map(|fold| {
            let part = |inside: bool| -> Vec<TrainingExample> {
                let pairs = examples.iter().zip(&places);
                pairs
                    .filter(|(_, place)| (**place == fold) == inside)
                    .map(|(example, _)| *example)
                    .collect()
            };
            look(&part(false), &part(true))
        })
        .collect()
}

/// The fold of each example: the examples of either kind are dealt out in turn, so every fold has its share of both.
fn places(examples: &[TrainingExample]) -> Vec<usize> {
    let mut dealt = [0, 0];
    examples
        .iter()
        .map(|example| {
            let next = &mut dealt[usize::from(example.changed)];
            *next += 1;
            (*next - 1) % FOLDS
        })
        .collect()
}

fn look(seen: &[TrainingExample], unseen: &[TrainingExample]) -> Result<FoldScore, LearnError> {
    let learned = fit(seen)?;
    let changed = seen.iter().filter(|example| example.changed).count();
    let common = changed * 2 > seen.len();
    let mut fold = FoldScore {
        baseline_right: count(
            unseen
                .iter()
                .filter(|example| example.changed == common)
                .count(),
        ),
        ..FoldScore::default()
    };
    for example in unseen {
        let foretold = learned.says_complex(&example.features);
        *match (foretold, example.changed) {
            (true, true) => &mut fold.hits,
            (true, false) => &mut fold.false_alarms,
            (false, true) => &mut fold.misses,
            (false, false) => &mut fold.passes,
        } += 1;
    }
    Ok(fold)
}

/// All folds as one. Its shares are the means of theirs, each weighted by its examples.
pub(super) fn sum(folds: &[FoldScore]) -> FoldScore {
    folds
        .iter()
        .fold(FoldScore::default(), |sum, fold| FoldScore {
            hits: sum.hits + fold.hits,
            false_alarms: sum.false_alarms + fold.false_alarms,
            misses: sum.misses + fold.misses,
            passes: sum.passes + fold.passes,
            baseline_right: sum.baseline_right + fold.baseline_right,
        })
}
