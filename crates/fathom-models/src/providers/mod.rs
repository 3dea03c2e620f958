//! The wire formats: encoding of requests and decoding of replies; [`crate::http::exchange`] does the rest.

mod anthropic;
mod ollama;
mod openai;
mod scripted;
mod strict_schema;

use std::fmt;
use std::fmt::Write as _;

use fathom_core::model::ModelRequest;
use fathom_core::model::failure::{FailureKind, ModelFailure};
use fathom_core::model::tool_call::ToolSpec;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::http::classify_failure::ProviderMessage;
use crate::http::frames::FrameKind;
use crate::http::reply_builder::ReplyBuilder;

pub(crate) use anthropic::{AnthropicProtocol, HEADERS as ANTHROPIC_HEADERS};
pub(crate) use ollama::OllamaProtocol;
pub(crate) use openai::OpenAi;
pub(crate) use scripted::{ModelScript, ScriptedModel};

/// A wire format. Decoding is lenient: servers omit fields, add some, and invent values.
pub(crate) trait WireProtocol: fmt::Debug + Send + Sync {
    /// Path relative to the server's base.
    fn path(&self) -> &'static str;

    /// Framing of a stream.
    fn framing(&self) -> FrameKind;

    /// Maximum number of tokens that the provider adds to a request with a schema, besides the schema itself.
    fn schema_tokens(&self) -> u64;

    /// Encodes the request's body.
    fn body(&self, request: &ModelRequest) -> Result<Vec<u8>, ModelFailure>;

    /// Decodes a reply in one piece.
    fn whole(&self, body: &[u8], heard: &mut ReplyBuilder) -> Result<(), ReplyError>;

    /// Decodes one frame of a streamed reply.
    fn frame(&self, frame: &str, heard: &mut ReplyBuilder) -> Result<(), ReplyError>;
}

/// Reasons for failing to decode a reply.
#[derive(Debug)]
pub(crate) enum ReplyError {
    /// It is not in the wire format.
    Unexpected(&'static str),
    /// It is an error reported by the provider.
    Said(ProviderMessage),
}

/// A request's messages as one text, each as `speaker: text` and a line feed: the text that a script's `match`
/// is compared with.
pub fn render(request: &ModelRequest) -> String {
    let mut rendered = String::new();
    for message in &request.messages {
        // Writing to a string cannot fail.
        let _ = writeln!(rendered, "{}: {}", message.speaker, message.text.as_str());
    }
    rendered
}

/// The request's schema as it was written: the order of its fields matters to a model.
fn schema_of(request: &ModelRequest) -> Result<Option<&RawValue>, ModelFailure> {
    let Some(schema) = &request.schema else {
        return Ok(None);
    };
    serde_json::from_str(schema.as_str())
        .map(Some)
        .map_err(|cause| {
            let detail = format!("the schema of the request is no JSON: {cause}");
            ModelFailure::unsent(FailureKind::Rejected, detail)
        })
}

/// The schema of a tool's arguments as it was written.
fn arguments_of(tool: &ToolSpec) -> Result<&RawValue, ModelFailure> {
    serde_json::from_str(tool.schema.as_str()).map_err(|cause| {
        let detail = format!("the schema of tool `{}` is no JSON: {cause}", tool.name);
        ModelFailure::unsent(FailureKind::Rejected, detail)
    })
}

/// A tool in the format of `OpenAI`, which Ollama uses too.
#[derive(Serialize)]
struct FunctionSchema<'a> {
    r#type: &'static str,
    function: DescribedTool<'a>,
}

#[derive(Serialize)]
struct DescribedTool<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a RawValue,
}

fn functions(request: &ModelRequest) -> Result<Vec<FunctionSchema<'_>>, ModelFailure> {
    let mut functions = Vec::new();
    for tool in &request.tools {
        functions.push(FunctionSchema {
            r#type: "function",
            function: DescribedTool {
                name: &tool.name,
                description: tool.description.as_str(),
                parameters: arguments_of(tool)?,
            },
        });
    }
    Ok(functions)
}

/// Decodes the calls of a message, or of a part of one.
fn calls(said: &Value, heard: &mut ReplyBuilder) -> Result<(), ReplyError> {
    for call in said["tool_calls"].as_array().into_iter().flatten() {
        let function = &call["function"];
        let name = function["name"].as_str().unwrap_or_default();
        // Some servers send the arguments as JSON, some as a string that contains it.
        let arguments = match &function["arguments"] {
            Value::String(arguments) => arguments.clone(),
            Value::Null => String::new(),
            arguments => arguments.to_string(),
        };
        heard.call(count(&call["index"]), name, &arguments)?;
    }
    Ok(())
}

fn temperature(request: &ModelRequest) -> Option<f64> {
    request
        .temperature_milli
        .map(|milli| f64::from(milli) / 1000.0)
}

fn write(body: &impl serde::Serialize) -> Result<Vec<u8>, ModelFailure> {
    serde_json::to_vec(body).map_err(|cause| {
        let detail = format!("the request cannot be written: {cause}");
        ModelFailure::unsent(FailureKind::Rejected, detail)
    })
}

/// A JSON object, the common ground of all wire formats.
fn object(body: &[u8]) -> Result<Value, ReplyError> {
    let value: Result<Value, _> = serde_json::from_slice(body);
    value
        .ok()
        .filter(Value::is_object)
        .ok_or(ReplyError::Unexpected("expected a JSON object"))
}

/// A token count, if it is one.
fn count(value: &Value) -> Option<u64> {
    value.as_u64()
}

/// The text, or the text of all parts; empty if there is neither.
fn words(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter(|part| !is_thought(part))
            .filter_map(|part| part["text"].as_str())
            .collect(),
        _ => String::new(),
    }
}

/// Whether a part of a reply is what the model thought before it, which is no part of what it says. Most servers have that
/// in a member of its own (`reasoning_content`, `reasoning`, `thinking`), which nobody reads.
fn is_thought(part: &Value) -> bool {
    const TYPES: [&str; 4] = ["thinking", "thought", "reasoning", "reasoning_content"];
    let is_type = |kind: &str| TYPES.contains(&kind);
    part["type"].as_str().is_some_and(is_type) || part["thought"] == true
}

/// The error in an answer, if there is one.
fn error_in(answer: &Value) -> Option<ProviderMessage> {
    match answer.get("error") {
        None | Some(Value::Null) => None,
        Some(_) => Some(ProviderMessage::read(answer).unwrap_or_default()),
    }
}
