//! A model's reply.

use serde::{Deserialize, Serialize};

use super::{LocalTiming, TokenUsage, UsageSource};
use crate::id::{EpisodeId, RunId, Seq};
use crate::model::tool_call::ToolCall;
use crate::text::{Text, VisitTexts};
use crate::unit::Millis;

/// The reason why the model stopped speaking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// It was done.
    Complete,
    /// It ran into the output cap.
    Truncated,
}

/// The place of an earlier reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReuseSource {
    /// In this run.
    pub run: RunId,
    /// In this episode of it.
    pub episode: EpisodeId,
    /// In this record.
    pub seq: Seq,
    /// Similarity of the question, in thousandths; 1000 for the same packet.
    pub similarity_milli: u16,
}

/// A model's reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelReply {
    /// The text. Empty only if the model wants tools called: an empty reply is a failure.
    pub text: Text,
    /// Tools that it wants called, of those it was offered or not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    pub ending: FinishReason,
    pub usage: TokenUsage,
    /// From sending to the last byte.
    pub latency: Millis,
    /// Time by stage, if the model runs in this process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing: Option<LocalTiming>,
    /// The place of the earlier reply, if no model was asked this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recalled: Option<ReuseSource>,
    /// The margin by which its beginning was likelier than any that leads elsewhere, in thousandths of a natural
    /// logarithm; set if the beginning was chosen among a few and the model runs in this process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub margin_milli: Option<i32>,
}

impl ModelReply {
    /// The same reply, where no model is asked again: it costs nothing.
    #[must_use]
    pub fn again(&self, recalled: ReuseSource) -> Self {
        Self {
            text: self.text.clone(),
            tool_calls: self.tool_calls.clone(),
            ending: self.ending,
            usage: TokenUsage {
                input_tokens: 0,
                output_tokens: 0,
                source: UsageSource::Counted,
            },
            latency: Millis(0),
            timing: None,
            recalled: Some(recalled),
            margin_milli: self.margin_milli,
        }
    }
}

impl VisitTexts for ModelReply {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        f(&mut self.text);
        self.tool_calls.each_text(f);
    }
}
