//! Learns from past runs for which questions it is worth asking sub-chiefs.
//!
//! An [`TrainingExample`] is a run in which the chiefs voted both alone and with their sub-chiefs. [`train`] fits a logistic
//! regression to them, tells by cross-validation how good it is on runs it has not seen, and gives a [`TrainedRule`] that is
//! written to and read from a file which people can follow.

mod cross_validation;
mod error;
pub mod examples;
mod logistic_regression;
mod rule_file;

use fathom_core::unit::PerMille;
use fathom_programs::council::complexity::{LearnedRule, QuestionFeatures};

pub use cross_validation::{FOLDS, FoldScore};
pub use error::LearnError;
pub use rule_file::read;

/// Fewest examples to learn from.
// Five folds of eight; with fewer a single example decides a fold.
pub const EXAMPLES_MIN: usize = 40;

/// Fewest examples of either kind.
pub const EITHER_MIN: usize = 8;

/// Most examples that are looked at; of more, the first.
// The matrix is dense and held in memory.
pub const EXAMPLES_MAX: usize = 100_000;

/// A past run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrainingExample {
    /// Features that the detector found in its question.
    pub features: QuestionFeatures,
    /// True if the decision with sub-chiefs differed from the chiefs' own.
    pub changed: bool,
}

/// A learned rule with its scores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrainedRule {
    /// The rule, fitted to all examples.
    pub learned: LearnedRule,
    /// Cross-validated scores: rules fitted to four fifths of the examples, tested on the other fifth, each fifth once.
    pub folds: Vec<FoldScore>,
    /// All folds together.
    pub whole: FoldScore,
}

impl TrainedRule {
    /// True if the rule is better than always giving the more frequent answer.
    pub fn beats_baseline(&self) -> bool {
        self.whole.right() > self.whole.baseline_right
    }
}

/// Learns a rule. The same examples in the same order give the same rule.
pub fn train(examples: &[TrainingExample]) -> Result<TrainedRule, LearnError> {
    let examples = &examples[..examples.len().min(EXAMPLES_MAX)];
    let changed = examples.iter().filter(|example| example.changed).count();
    if examples.len() < EXAMPLES_MIN {
        return Err(LearnError::TooFew {
            count: examples.len(),
        });
    }
    if changed.min(examples.len() - changed) < EITHER_MIN {
        return Err(LearnError::OneSided {
            changed,
            count: examples.len(),
        });
    }
    let folds = cross_validation::cross_validate(examples)?;
    let whole = cross_validation::sum(&folds);
    let mut learned = logistic_regression::fit(examples)?;
    // Scores of the folds, not of the final fit, which has seen all examples.
    learned.accuracy = whole.accuracy();
    learned.baseline = whole.baseline();
    Ok(TrainedRule {
        learned,
        folds,
        whole,
    })
}

fn share(part: u32, whole: u32) -> PerMille {
    PerMille::share(part.into(), whole.into())
}

#[cfg(test)]
#[path = "learning_tests.rs"]
mod tests;
