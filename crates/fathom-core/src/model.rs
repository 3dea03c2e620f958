//! Requests to models and their replies, free of any provider's wire format.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::amounts::Amounts;
use crate::id::{EpisodeId, RunId, Seq};
use crate::text::{Text, Texts};
use crate::tool::{ToolCall, ToolSpec};
use crate::unit::{Millis, Nanodollars};

/// A model as the user named it, with what is needed to reach it again after a restart. Holds no secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelSpec {
    /// `PROVIDER/NAME`, as in `openai/gpt-4o-mini` or `script/answers.jsonl`.
    pub id: String,
    /// Server address, where the provider has no fixed one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Name of the environment variable that holds the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// Header that carries the key when it does not go as Bearer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_header: Option<String>,
}

impl ModelSpec {
    /// A model that needs nothing but its name.
    pub fn named(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            base_url: None,
            api_key_env: None,
            api_key_header: None,
        }
    }

    /// The part before the first slash.
    pub fn provider(&self) -> &str {
        self.id.split_once('/').map_or("", |(provider, _)| provider)
    }

    /// The part after the first slash.
    pub fn name(&self) -> &str {
        self.id.split_once('/').map_or(&self.id, |(_, name)| name)
    }
}

/// The models of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Models {
    /// Model of the root episode.
    pub main: ModelSpec,
    /// Model of children and leaf calls.
    pub sub: ModelSpec,
    /// Model in the role Prime, where it is not the root's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prime: Option<ModelSpec>,
    /// Model in the role Lite, where it is not the children's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lite: Option<ModelSpec>,
    /// Model in the role `CodeMind`, where it is not the root's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code_mind: Option<ModelSpec>,
}

impl Models {
    /// These two for every role.
    pub const fn new(main: ModelSpec, sub: ModelSpec) -> Self {
        Self {
            main,
            sub,
            prime: None,
            lite: None,
            code_mind: None,
        }
    }

    /// The model in a role.
    pub fn get(&self, role: ModelRole) -> &ModelSpec {
        match role {
            ModelRole::Main => &self.main,
            ModelRole::Sub => &self.sub,
            ModelRole::Prime => self.prime.as_ref().unwrap_or(&self.main),
            ModelRole::Lite => self.lite.as_ref().unwrap_or(&self.sub),
            ModelRole::CodeMind => self.code_mind.as_ref().unwrap_or(&self.main),
        }
    }
}

/// The role, within a run, of the model that a call goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelRole {
    /// The root's model.
    Main,
    /// The model of children and leaf calls.
    Sub,
    /// The one that decides.
    Prime,
    /// The quick one.
    Lite,
    /// The one for code.
    CodeMind,
}

impl ModelRole {
    /// Every role.
    pub const ALL: [Self; 5] = [
        Self::Main,
        Self::Sub,
        Self::Prime,
        Self::Lite,
        Self::CodeMind,
    ];
}

/// The speaker of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// Standing instructions.
    System,
    /// The asking side.
    User,
    /// The model.
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
pub struct Message {
    pub speaker: Speaker,
    pub text: Text,
}

impl Message {
    /// A message of `speaker`.
    pub fn new(speaker: Speaker, text: impl Into<Text>) -> Self {
        Self {
            speaker,
            text: text.into(),
        }
    }
}

impl Texts for Message {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        f(&mut self.text);
    }
}

/// The form in which the reply comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// In one piece.
    Whole,
    /// As coalesced segments while the model speaks, then in one piece.
    Streamed,
}

/// One model call's content and settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    pub messages: Vec<Message>,
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
    pub delivery: Delivery,
    /// Longest time one attempt may take.
    pub timeout: Millis,
}

impl Request {
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

impl Texts for Request {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        self.messages.each_text(f);
        self.schema.each_text(f);
        self.pattern.each_text(f);
        self.tools.each_text(f);
    }
}

/// The precision of a token count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exactness {
    /// With the model's own tokenizer.
    Exact,
    /// An upper bound (bytes and template), because the tokenizer is unknown.
    UpperBound,
}

/// Price of a model per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    /// Per million input tokens.
    pub input_per_million: Nanodollars,
    /// Per million output tokens.
    pub output_per_million: Nanodollars,
}

impl Price {
    /// Cost of `input` and `output` tokens, rounded up.
    pub fn of(&self, input: u64, output: u64) -> Nanodollars {
        const MILLION: u128 = 1_000_000;
        let nanos = (u128::from(self.input_per_million.0) * u128::from(input))
            .saturating_add(u128::from(self.output_per_million.0) * u128::from(output))
            .div_ceil(MILLION);
        Nanodollars(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

/// Size and price of a request before it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    /// Tokens the request will take, chat template included.
    pub input_tokens: u64,
    pub exactness: Exactness,
    /// The model's window in tokens, where known: input and output together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_tokens: Option<u64>,
    pub price: Price,
}

impl Measured {
    /// Reservation for this request with an output cap of `output_tokens`.
    pub fn worst_case(&self, output_tokens: u32) -> Amounts {
        let output = u64::from(output_tokens);
        Amounts {
            tokens: self.input_tokens.saturating_add(output),
            calls: 1,
            money: self.price.of(self.input_tokens, output),
            ..Amounts::ZERO
        }
    }
}

/// The origin of a usage figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsageSource {
    /// The provider said so.
    Reported,
    /// The provider said nothing; counted on this side.
    Counted,
}

/// Tokens a call took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the request.
    pub input_tokens: u64,
    /// Tokens of the reply.
    pub output_tokens: u64,
    pub source: UsageSource,
}

/// The reason why the model stopped speaking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// It was done.
    Complete,
    /// It ran into the output cap.
    Truncated,
}

/// Time of a call to the embedded model, by stage. Time spent waiting for a turn is in neither part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// Reading what had to be read of the request.
    pub reading: Millis,
    /// Tokens of the request that another call had already read.
    pub shared_tokens: u64,
    /// Writing the reply.
    pub writing: Millis,
}

/// Leave to answer a call with what was said before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recall {
    /// Conditions that must be the same, beside the model, for an answer to a similar question to be of use.
    pub scope: String,
    /// The question, by which similar ones are found.
    pub question: Text,
    /// Least cosine of two questions, in thousandths; `None` when only the same packet will do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub similarity_min_milli: Option<u16>,
}

impl Texts for Recall {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        f(&mut self.question);
    }
}

/// The place of an earlier reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recalled {
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
pub struct Reply {
    /// The text. Empty only if the model wants tools called: an empty reply is a failure.
    pub text: Text,
    /// Tools that it wants called, of those it was offered or not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    pub ending: Ending,
    pub usage: Usage,
    /// From sending to the last byte.
    pub latency: Millis,
    /// Time by stage, if the model runs in this process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing: Option<Timing>,
    /// The place of the earlier reply, if no model was asked this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recalled: Option<Recalled>,
    /// The margin by which its beginning was likelier than any that leads elsewhere, in thousandths of a natural
    /// logarithm; set if the beginning was chosen among a few and the model runs in this process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub margin_milli: Option<i32>,
}

impl Reply {
    /// The same reply, where no model is asked again: it costs nothing.
    #[must_use]
    pub fn again(&self, recalled: Recalled) -> Self {
        Self {
            text: self.text.clone(),
            tool_calls: self.tool_calls.clone(),
            ending: self.ending,
            usage: Usage {
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

impl Texts for Reply {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        f(&mut self.text);
        self.tool_calls.each_text(f);
    }
}
