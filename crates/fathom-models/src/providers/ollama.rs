//! Ollama's own chat API: a JSON value, or one per line.

use fathom_core::model::failure::ModelFailure;
use fathom_core::model::{ModelRequest, ReplyMode};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{
    FunctionSchema, ReplyError, WireProtocol, calls, count, error_in, functions, object, schema_of,
    temperature, words, write,
};
use crate::http::frames::FrameKind;
use crate::http::reply_builder::{ProviderStop, ReplyBuilder};

/// Smallest requested window.
const WINDOW_TOKENS_MIN: u64 = 4096;
/// Largest requested window: memory use grows with it.
const WINDOW_TOKENS_MAX: u64 = 131_072;
/// Minimum number of bytes per token in ordinary text.
const BYTES_PER_TOKEN: u64 = 2;

/// Ollama's chat API with one model.
#[derive(Debug)]
pub(crate) struct OllamaProtocol {
    pub(crate) model: String,
}

#[derive(Serialize)]
struct OllamaBody<'a> {
    model: &'a str,
    messages: Vec<OllamaLine<'a>>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<FunctionSchema<'a>>,
    options: OllamaOptions,
}

#[derive(Serialize)]
struct OllamaLine<'a> {
    role: String,
    content: &'a str,
}

#[derive(Serialize)]
struct OllamaOptions {
    num_predict: u32,
    num_ctx: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u32>,
}

impl WireProtocol for OllamaProtocol {
    fn path(&self) -> &'static str {
        "api/chat"
    }

    fn framing(&self) -> FrameKind {
        FrameKind::Lines
    }

    fn schema_tokens(&self) -> u64 {
        // The schema becomes a grammar, which takes no tokens.
        0
    }

    fn body(&self, request: &ModelRequest) -> Result<Vec<u8>, ModelFailure> {
        write(&OllamaBody {
            model: &self.model,
            messages: request
                .messages
                .iter()
                .map(|message| OllamaLine {
                    role: message.speaker.to_string(),
                    content: message.text.as_str(),
                })
                .collect(),
            stream: request.delivery == ReplyMode::Streamed,
            format: schema_of(request)?,
            tools: functions(request)?,
            options: OllamaOptions {
                num_predict: request.output_tokens_max,
                num_ctx: window(request),
                temperature: temperature(request),
                seed: request.seed,
            },
        })
    }

    fn whole(&self, body: &[u8], heard: &mut ReplyBuilder) -> Result<(), ReplyError> {
        let answer = object(body)?;
        if error_in(&answer).is_none() && !answer["message"].is_object() {
            return Err(ReplyError::Unexpected("expected a message"));
        }
        hear(&answer, heard)?;
        heard.ended = true;
        Ok(())
    }

    fn frame(&self, frame: &str, heard: &mut ReplyBuilder) -> Result<(), ReplyError> {
        let line = object(frame.as_bytes())?;
        hear(&line, heard)
    }
}

/// The smallest power of two that holds the request.
///
/// Ollama silently truncates a longer request, and reloads the model whenever the window changes.
fn window(request: &ModelRequest) -> u64 {
    let messages = request.messages.iter().map(|message| &message.text);
    let tools = request.tools.iter();
    let tools = tools.flat_map(|tool| [&tool.description, &tool.schema]);
    let bytes: usize = messages.chain(tools).map(|text| text.as_str().len()).sum();
    let input = bytes as u64 / BYTES_PER_TOKEN;
    let needed = input.saturating_add(u64::from(request.output_tokens_max));
    needed
        .min(WINDOW_TOKENS_MAX)
        .next_power_of_two()
        .max(WINDOW_TOKENS_MIN)
}

fn hear(line: &Value, heard: &mut ReplyBuilder) -> Result<(), ReplyError> {
    if let Some(said) = error_in(line) {
        return Err(ReplyError::Said(said));
    }
    heard.text += &words(&line["message"]["content"]);
    calls(&line["message"], heard)?;
    if line["done"] == Value::Bool(true) {
        heard.stop = Some(match line["done_reason"].as_str() {
            Some("length") => ProviderStop::Length,
            _ => ProviderStop::Complete,
        });
        heard.input_tokens = count(&line["prompt_eval_count"]);
        heard.output_tokens = count(&line["eval_count"]);
        heard.ended = true;
    }
    Ok(())
}
