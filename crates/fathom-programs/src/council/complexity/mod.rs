//! Tells, without a model, whether a question is complex enough to be taken apart.
//!
//! A [`DetectorConfig`] is what a charter says. [`ComplexityDetector`] makes it ready once and then looks at questions. What it finds is an
//! [`ComplexityAssessment`], whose [`QuestionFeatures`] are what a [`LearnedRule`] rule weighs.

mod detector;
mod features;
mod learned_rule;
mod listed_factors;
mod phrases;
mod tokenize;

use serde::{Deserialize, Serialize};

pub use detector::ComplexityDetector;
pub use features::{QuestionFeature, QuestionFeatures};
pub use learned_rule::{FeatureWeight, LearnedRule};

/// Lexicons and thresholds, as a charter gives them.
///
/// A word of a lexicon is met as a whole word in upper or lower case and in no other form: `auth` is neither `author` nor
/// `authentication`. An entry may list forms of one thing, as `cost|costs`: it counts once, under the name of its first
/// form. An entry of several words is met where they follow each other within a clause, whether spaces, hyphens or
/// apostrophes part them: `trade-off` is also `trade off`, and `auth-migration` or `auth's` touch `auth`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DetectorConfig {
    /// Estimated tokens above which a question is long.
    pub tokens_over: u32,
    /// Uncertainty phrases from which on a question is uncertain.
    pub uncertainty_min: u32,
    /// Domains from which on a question is broad.
    pub domains_min: u32,
    /// Decision factors from which on a question weighs much.
    pub factors_min: u32,
    /// Signals from which on sub-chiefs are asked.
    pub score_min: u32,
    /// Phrases that show uncertainty.
    pub uncertainty: Vec<String>,
    /// Words after which factors are listed, as `considering`.
    pub factor_openers: Vec<String>,
    /// Words between two listed factors, as `and`. A comma needs no mention.
    pub factor_joiners: Vec<String>,
    /// Words with which a list of factors is over, as `should`. The end of a sentence needs no mention.
    pub factor_closers: Vec<String>,
    /// Words that are factors by themselves, as `cost`.
    pub factors: Vec<String>,
    /// Domains by name, each with its words, in the charter's order.
    pub domains: Vec<TopicDomain>,
    /// A rule learned from past runs. Where there is one it decides, and the signals are told beside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub learned: Option<LearnedRule>,
}

/// A field that a question may touch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TopicDomain {
    pub name: String,
    /// Words and phrases that show it.
    pub words: Vec<String>,
}

/// Words between listed factors, unless a charter names others.
const JOINERS: [&str; 3] = ["and", "or", "as well as"];

/// Words with which a new clause begins, unless a charter names others.
const CLOSERS: [&str; 29] = [
    "should", "shall", "would", "will", "could", "can", "must", "is", "are", "was", "were", "do",
    "does", "which", "who", "what", "when", "where", "why", "how", "whether", "if", "because",
    "but", "then", "we", "i", "you", "they",
];

impl Default for DetectorConfig {
    fn default() -> Self {
        Self {
            tokens_over: 500,
            uncertainty_min: 2,
            domains_min: 2,
            factors_min: 3,
            score_min: 2,
            uncertainty: Vec::new(),
            factor_openers: Vec::new(),
            factor_joiners: JOINERS.map(str::to_owned).to_vec(),
            factor_closers: CLOSERS.map(str::to_owned).to_vec(),
            factors: Vec::new(),
            domains: Vec::new(),
            learned: None,
        }
    }
}

/// A signal that a question gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "signal", rename_all = "snake_case")]
pub enum ComplexitySignal {
    /// The question is long.
    Length { tokens: u32 },
    /// The question shows uncertainty.
    Uncertainty { phrases: Vec<String> },
    /// The question touches several domains.
    Domains { domains: Vec<String> },
    /// The question lists several decision factors.
    Factors {
        /// The factors: those of the lexicon, then those that the question lists.
        factors: Vec<String>,
    },
    /// The learned rule decided. It is not a signal and does not count in the score.
    Learned {
        /// Log-odds that sub-chiefs change the decision, in thousandths, less what the rule wants of them: from zero on
        /// they are asked.
        log_odds_milli: i64,
    },
}

/// Assessment of a question by the detector.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComplexityAssessment {
    /// Number of signals.
    pub score: u32,
    /// True if sub-chiefs are asked: there are enough signals, or the learned rule decides so.
    pub complex: bool,
    /// The signals, and the learned rule's word where there is one.
    pub reasons: Vec<ComplexitySignal>,
    /// The domains it touches.
    pub domains: Vec<String>,
    /// The sub-chiefs it concerns, as paths like `IT/security`, in the charter's order. They are named whether or
    /// not the question is complex.
    pub seats: Vec<String>,
    /// The numbers behind all this.
    #[serde(default)]
    pub features: QuestionFeatures,
}

#[cfg(test)]
#[path = "complexity_tests.rs"]
mod tests;
