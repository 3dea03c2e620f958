//! Configuration of `direct`.

use serde::{Deserialize, Serialize};

use super::program::NAME;
use fathom_core::journal::event::ProgramSpec;
use fathom_core::unit::Millis;

/// A piece of material that goes into the prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromptMaterial {
    /// Name of its source, shown to the model.
    pub source: String,
    pub text: String,
}

/// Rules for judging an answer before it goes out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReviewRules {
    /// Criteria that a good answer meets.
    pub rubric: String,
    /// Rewrites allowed after a failed review.
    pub revisions_max: u32,
}

/// Parameters of `direct`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DirectConfig {
    /// Standing instructions.
    pub system: String,
    /// Material for the prompt.
    pub material: Vec<PromptMaterial>,
    /// Output cap of one call.
    pub output_tokens_max: u32,
    /// Output cap below which a call is of no use.
    pub output_tokens_min: u32,
    /// Continuations allowed for a cut reply.
    pub continuations_max: u32,
    /// Sampling temperature in thousandths.
    pub temperature_milli: Option<u16>,
    /// True if the reply is streamed.
    pub stream: bool,
    /// Longest time of one attempt.
    pub timeout: Millis,
    /// JSON schema of the reply.
    pub schema: Option<serde_json::Value>,
    /// Review of the answer before it goes out, if any.
    pub review: Option<ReviewRules>,
}

impl Default for DirectConfig {
    fn default() -> Self {
        Self {
            system: String::new(),
            material: Vec::new(),
            output_tokens_max: 1024,
            // With fewer tokens left a reply is a torn sentence, which is worth less than ending with what there is.
            output_tokens_min: 32,
            // Bounds a model that never stops: nine caps of output are about nine thousand tokens.
            continuations_max: 8,
            temperature_milli: None,
            stream: true,
            timeout: Millis(60_000),
            schema: None,
            review: None,
        }
    }
}

impl DirectConfig {
    /// The specification of a `direct` program with these parameters.
    pub fn spec(&self) -> ProgramSpec {
        ProgramSpec::new(NAME, self)
    }
}
