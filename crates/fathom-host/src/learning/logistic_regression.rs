//! Logistic regression on standardised features.

use std::panic::{AssertUnwindSafe, catch_unwind};

use fathom_core::unit::PerMille;
use fathom_programs::council::complexity::{
    FeatureWeight, LearnedRule, QuestionFeature, QuestionFeatures,
};
use smartcore::error::Failed;
use smartcore::linalg::basic::arrays::Array;
use smartcore::linalg::basic::matrix::DenseMatrix;
use smartcore::linear::logistic_regression::{LogisticRegression, LogisticRegressionParameters};

use super::{LearnError, TrainingExample};

/// Strength of the penalty on squared weights. With few runs it keeps a weight from growing without end.
const PENALTY: f64 = 1.0;

/// Millionths in one.
pub(super) const MICRO: f64 = 1_000_000.0;

/// Largest number that a rule may have in it; beyond, a float has no millionths any more.
pub(super) const NUMBER_MAX: f64 = 1_000_000_000.0;

/// Mean and spread of a feature over the examples.
struct FeatureSpread {
    mean: f64,
    /// Standard deviation; zero where it never varies.
    scale: f64,
}

impl FeatureSpread {
    fn of(examples: &[TrainingExample], feature: QuestionFeature) -> Self {
        let values = || {
            examples
                .iter()
                .map(|example| f64::from(example.features.get(feature)))
        };
        let mean = mean(values());
        let variance = self::mean(values().map(|value| (value - mean) * (value - mean)));
        Self {
            mean,
            scale: variance.sqrt(),
        }
    }

    fn standardise(&self, features: &QuestionFeatures, feature: QuestionFeature) -> f64 {
        // A constant feature would divide by zero and spoil all weights with NaN.
        if self.scale == 0.0 {
            return 0.0;
        }
        (f64::from(features.get(feature)) - self.mean) / self.scale
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for value in values {
        sum += value;
        count += 1.0;
    }
    if count == 0.0 { 0.0 } else { sum / count }
}

/// Fits a rule to examples of both kinds. How good it is remains to be seen.
pub(super) fn fit(examples: &[TrainingExample]) -> Result<LearnedRule, LearnError> {
    let spreads = QuestionFeature::ALL.map(|feature| FeatureSpread::of(examples, feature));
    let rows: Vec<Vec<f64>> = examples
        .iter()
        .map(|example| {
            let pairs = QuestionFeature::ALL.into_iter().zip(&spreads);
            pairs
                .map(|(feature, spread)| spread.standardise(&example.features, feature))
                .collect()
        })
        .collect();
    let changed: Vec<i32> = examples
        .iter()
        .map(|example| i32::from(example.changed))
        .collect();
    let matrix = DenseMatrix::from_2d_vec(&rows).map_err(|failed| unfit(&failed))?;
    let parameters = LogisticRegressionParameters::default().with_alpha(PENALTY);
    let fitted = guarded(|| LogisticRegression::fit(&matrix, &changed, parameters))?;
    let weights = QuestionFeature::ALL
        .into_iter()
        .zip(&spreads)
        .enumerate()
        .map(|(place, (feature, spread))| {
            // A feature that never varied has no say.
            let weight = if spread.scale == 0.0 {
                0.0
            } else {
                *fitted.coefficients().get((0, place))
            };
            Ok(FeatureWeight {
                feature,
                weight_micro: micro(weight)?,
                mean_micro: micro(spread.mean)?,
                scale_micro: micro(spread.scale)?,
            })
        });
    Ok(LearnedRule {
        version: LearnedRule::VERSION,
        weights: weights.collect::<Result<_, LearnError>>()?,
        bias_micro: micro(*fitted.intercept().get((0, 0)))?,
        threshold_micro: 0,
        trained_on: count(examples.len()),
        changed: count(examples.iter().filter(|example| example.changed).count()),
        accuracy: PerMille::default(),
        baseline: PerMille::default(),
    })
}

/// The search for weights panics where it comes to no end; that is its examples' error.
pub(super) fn guarded<T>(search: impl FnOnce() -> Result<T, Failed>) -> Result<T, LearnError> {
    // The library's line search panics when it does not converge, which a user's data can cause.
    match catch_unwind(AssertUnwindSafe(search)) {
        Ok(fitted) => fitted.map_err(|failed| unfit(&failed)),
        Err(_) => Err(unfit(&"the search for weights does not converge")),
    }
}

fn unfit(why: &impl ToString) -> LearnError {
    LearnError::Unfit {
        why: why.to_string(),
    }
}

fn micro(number: f64) -> Result<i64, LearnError> {
    to_micro(number).ok_or_else(|| unfit(&format!("a weight or standard deviation is {number}")))
}

/// A number in millionths; none for one that is not finite or too large.
pub(super) fn to_micro(number: f64) -> Option<i64> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "it is in the bounds of an i64"
    )]
    let micro = |number: f64| (number * MICRO).round() as i64;
    (number.abs() <= NUMBER_MAX).then(|| micro(number))
}

pub(super) fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
