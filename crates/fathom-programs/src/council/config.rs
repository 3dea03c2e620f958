//! Configuration of a council: seats, rules of their ballots, and material known beforehand.

use serde::{Deserialize, Serialize};

use super::complexity::DetectorConfig;
use fathom_core::journal::event::ProgramSpec;
use fathom_core::unit::Millis;

/// Deepest council: chiefs are at 0, their sub-chiefs at 1, and so on.
pub const DEPTH_MAX: u8 = 3;

/// Most sub-chiefs that one seat asks.
pub const SUB_CHIEFS_MAX: u8 = 4;

/// Most votes that are drawn for one seat.
pub const SAMPLES_MAX: u8 = 16;

/// A piece of the given material, with the place it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuotedPassage {
    /// File or other source, as the user named it.
    pub source: String,
    /// Its first line there, counted from one.
    pub line: u32,
    pub text: String,
}

/// One who votes: a chief, or a sub-chief of one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CouncilSeat {
    /// Its name, unique among its siblings, as `security`.
    pub id: String,
    /// Point of view, stated in the prompt.
    pub focus: String,
    /// Words that show that a question concerns it. A chief needs none: every chief is asked.
    pub lexicon: Vec<String>,
    /// Passages of the material that concern this seat.
    pub passages: Vec<QuotedPassage>,
    /// Those it may ask.
    pub sub_chiefs: Vec<CouncilSeat>,
}

/// Source of a vote's confidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ConfidenceSource {
    /// The model states it.
    #[default]
    Stated,
    /// It is the share of several votes drawn by chance.
    Measured {
        /// Number of votes drawn.
        samples: u8,
        /// At this temperature, in thousandths.
        temperature_milli: u16,
    },
}

/// Way of combining the words of several seats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SynthesisMode {
    /// They are listed; no model is asked.
    #[default]
    Arithmetic,
    /// A model puts them together. The vote stays what arithmetic says.
    Model,
}

/// Reuse of earlier answers in place of new calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ReusePolicy {
    Off,
    /// To the same packet.
    #[default]
    Same,
    /// To the same packet, or to a question that is at least so similar.
    Similar {
        /// Least cosine of the two questions, in thousandths.
        similarity_min_milli: u16,
    },
}

/// Configuration of the `council` program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CouncilConfig {
    pub chiefs: Vec<CouncilSeat>,
    /// Recognition of complex questions.
    pub detector: DetectorConfig,
    /// Levels of sub-chiefs below the chiefs.
    pub depth_max: u8,
    /// Most sub-chiefs that one seat asks.
    pub sub_chiefs_max: u8,
    /// Source of confidence.
    pub confidence: ConfidenceSource,
    /// Way of combining several answers.
    pub synthesis: SynthesisMode,
    /// Reuse of earlier answers.
    pub reuse: ReusePolicy,
    /// True if every chief with sub-chiefs also votes by itself, for comparison.
    pub compare: bool,
    /// Instructions to every voter, before question, seat and passages.
    pub instructions: String,
    /// Most characters of a voter's reasoning, where the model can be held to it.
    pub reasoning_chars_max: Option<u32>,
    /// Output cap of a vote.
    pub output_tokens_max: u32,
    /// True if the reply is asked for as JSON under a schema.
    pub structured: bool,
    /// Longest time of one attempt.
    pub timeout: Millis,
    /// Longest time that a voter may take, retries included.
    pub voter_time: Millis,
    /// SHA-256 of the material the passages were taken from; empty without material.
    pub material: String,
}

impl Default for CouncilConfig {
    fn default() -> Self {
        Self {
            chiefs: Vec::new(),
            detector: DetectorConfig::default(),
            depth_max: 1,
            sub_chiefs_max: 4,
            confidence: ConfidenceSource::default(),
            synthesis: SynthesisMode::default(),
            reuse: ReusePolicy::default(),
            compare: false,
            instructions: String::new(),
            reasoning_chars_max: None,
            output_tokens_max: 300,
            structured: true,
            timeout: Millis(60_000),
            voter_time: Millis(120_000),
            material: String::new(),
        }
    }
}

impl CouncilConfig {
    /// The specification of a council with these parameters.
    pub fn spec(&self) -> ProgramSpec {
        ProgramSpec::new(super::NAME, self)
    }
}
