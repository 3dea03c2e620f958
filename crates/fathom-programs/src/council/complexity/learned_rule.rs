//! A rule that was learned from past runs: a weighted sum of a question's features, compared with a threshold.

use serde::{Deserialize, Serialize};

use super::features::{QuestionFeature, QuestionFeatures};
use fathom_core::unit::PerMille;

/// Linear rule, learned from past runs, for the odds that sub-chiefs change a decision.
///
/// Numbers are whole millionths, so a replay gives the same answer on every machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearnedRule {
    /// Version of the features it was trained on.
    pub version: u32,
    /// Weights of features. A feature that is not listed has weight zero.
    pub weights: Vec<FeatureWeight>,
    /// Log-odds of a question whose every feature is at its mean.
    pub bias_micro: i64,
    /// Log-odds from which on sub-chiefs are asked; at zero, when a change is as likely as not.
    pub threshold_micro: i64,
    /// Runs it was trained on.
    pub trained_on: u32,
    /// Those of them in which sub-chiefs changed the decision.
    pub changed: u32,
    /// Share of runs it told right that it had not seen.
    pub accuracy: PerMille,
    /// Share that is right when always the commoner answer is given.
    pub baseline: PerMille,
}

/// Weight of one feature, with its scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeatureWeight {
    pub feature: QuestionFeature,
    /// By how much the log-odds grow when it is larger by `scale_micro`.
    pub weight_micro: i64,
    pub mean_micro: i64,
    /// Its standard deviation. A feature that never varied has none, and weighs nothing.
    pub scale_micro: i64,
}

/// Millionths in one.
const MICRO: i128 = 1_000_000;

impl LearnedRule {
    /// Version of the features of this build.
    pub const VERSION: u32 = 1;

    /// Log-odds that sub-chiefs change the decision, in millionths.
    pub fn log_odds_micro(&self, features: &QuestionFeatures) -> i64 {
        let mut sum = i128::from(self.bias_micro);
        for weight in &self.weights {
            sum = sum.saturating_add(weight.log_odds_micro(features));
        }
        narrow(sum)
    }

    /// Log-odds above the threshold, in millionths. From zero on sub-chiefs are asked.
    pub fn margin_micro(&self, features: &QuestionFeatures) -> i64 {
        let odds = self.log_odds_micro(features);
        odds.saturating_sub(self.threshold_micro)
    }

    /// True if sub-chiefs are asked.
    pub fn says_complex(&self, features: &QuestionFeatures) -> bool {
        self.margin_micro(features) >= 0
    }
}

impl FeatureWeight {
    fn log_odds_micro(&self, features: &QuestionFeatures) -> i128 {
        if self.scale_micro <= 0 {
            return 0;
        }
        let value = i128::from(features.get(self.feature)) * MICRO;
        // At most (2^52 + 2^63) · 2^63, so the product fits.
        (value - i128::from(self.mean_micro)) * i128::from(self.weight_micro)
            / i128::from(self.scale_micro)
    }
}

fn narrow(value: i128) -> i64 {
    let bounded = value.clamp(i128::from(i64::MIN), i128::from(i64::MAX));
    i64::try_from(bounded).unwrap_or_default()
}

#[cfg(test)]
#[path = "learned_rule_tests.rs"]
mod tests;
