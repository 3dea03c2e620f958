//! The content and settings of one model call.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::tool_call::ToolSpec;
use crate::text::{Text, VisitTexts};
use crate::unit::Millis;

/// The speaker of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// Standing instructions.
    System,
    /// The asking side.
    User,
    Assistant,
}

impl fmt::Display for Speaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
        })
    }
}

/// One message of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatMessage {
    pub speaker: Speaker,
    pub text: Text,
}

impl ChatMessage {
    /// A message of `speaker`.
    pub fn new(speaker: Speaker, text: impl Into<Text>) -> Self {
        Self {
            speaker,
            text: text.into(),
        }
    }
}

impl VisitTexts for ChatMessage {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        f(&mut self.text);
    }
}

/// The form in which the reply comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyMode {
    /// In one piece.
    Whole,
    /// As coalesced segments while the model speaks, then in one piece.
    Streamed,
}

/// One model call's content and settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelRequest {
    pub messages: Vec<ChatMessage>,
    /// Most tokens the model may write. The budget reserves all of them.
    pub output_tokens_max: u32,
    /// Sampling temperature in thousandths; `None` leaves it to the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_milli: Option<u16>,
    /// JSON schema (as JSON text) that the reply must meet. A request has this or tools, never both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Text>,
    /// Regular expression that the whole reply must match. Only a model that decodes under our eyes can be held to
    /// it; others reply as they like, so whoever asks still looks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<Text>,
    /// Seed of the model's random choice, for models that take one: the same seed draws the same reply again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u32>,
    /// Tools that the model may want called in place of an answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolSpec>,
    /// Whole or streamed.
    pub delivery: ReplyMode,
    /// Longest time one attempt may take.
    pub timeout: Millis,
}

impl ModelRequest {
    /// Everything that the model sees or is held to, piece by piece.
    pub fn each_part(&self, part: &mut dyn FnMut(&[u8])) {
        for message in &self.messages {
            part(message.speaker.to_string().as_bytes());
            part(message.text.as_str().as_bytes());
        }
        for form in [&self.schema, &self.pattern] {
            part(form.as_ref().map_or("", |form| form.as_str()).as_bytes());
        }
        // Their `Debug` form is part of a digest by which earlier answers are found: it must not change.
        let settings = (self.temperature_milli, self.seed);
        part(format!("{settings:?} {}", self.output_tokens_max).as_bytes());
        for tool in &self.tools {
            part(tool.name.as_bytes());
            part(tool.description.as_str().as_bytes());
            part(tool.schema.as_str().as_bytes());
        }
    }
}

impl VisitTexts for ModelRequest {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        self.messages.each_text(f);
        self.schema.each_text(f);
        self.pattern.each_text(f);
        self.tools.each_text(f);
    }
}

/// Leave to answer a call with what was said before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReuseGrant {
    /// Conditions that must be the same, beside the model, for an answer to a similar question to be of use.
    pub scope: String,
    /// The question, by which similar ones are found.
    pub question: Text,
    /// Least cosine of two questions, in thousandths; `None` when only the same packet will do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub similarity_min_milli: Option<u16>,
}

impl VisitTexts for ReuseGrant {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        f(&mut self.question);
    }
}
