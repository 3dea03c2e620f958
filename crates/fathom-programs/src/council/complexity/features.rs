//! The numbers behind an assessment.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A measurable feature of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionFeature {
    Tokens,
    Uncertainty,
    Domains,
    Factors,
    /// Sub-chiefs that it concerns.
    Seats,
    /// Chiefs of whose sub-chiefs it concerns one at least.
    Chiefs,
    Score,
}

impl QuestionFeature {
    /// Every feature, once.
    pub const ALL: [Self; 7] = [
        Self::Tokens,
        Self::Uncertainty,
        Self::Domains,
        Self::Factors,
        Self::Seats,
        Self::Chiefs,
        Self::Score,
    ];

    /// As it is written in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tokens => "tokens",
            Self::Uncertainty => "uncertainty",
            Self::Domains => "domains",
            Self::Factors => "factors",
            Self::Seats => "seats",
            Self::Chiefs => "chiefs",
            Self::Score => "score",
        }
    }

    /// Description of the count, for people.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Tokens => "estimated tokens of the question",
            Self::Uncertainty => "uncertainty phrases",
            Self::Domains => "domains it touches",
            Self::Factors => "decision factors",
            Self::Seats => "sub-chiefs it concerns",
            Self::Chiefs => "chiefs with a sub-chief it concerns",
            Self::Score => "signals of the detector",
        }
    }
}

impl fmt::Display for QuestionFeature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The numbers behind an assessment. The journal keeps them, so a rule can be learned from past runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct QuestionFeatures {
    pub tokens: u32,
    pub uncertainty: u32,
    pub domains: u32,
    pub factors: u32,
    /// Sub-chiefs that it concerns.
    pub seats: u32,
    /// Chiefs of whose sub-chiefs it concerns one at least.
    pub chiefs: u32,
    pub score: u32,
}

impl QuestionFeatures {
    /// The value of one feature.
    pub const fn get(&self, feature: QuestionFeature) -> u32 {
        match feature {
            QuestionFeature::Tokens => self.tokens,
            QuestionFeature::Uncertainty => self.uncertainty,
            QuestionFeature::Domains => self.domains,
            QuestionFeature::Factors => self.factors,
            QuestionFeature::Seats => self.seats,
            QuestionFeature::Chiefs => self.chiefs,
            QuestionFeature::Score => self.score,
        }
    }
}
