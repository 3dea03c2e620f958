//! Anthropic's Messages API.

use fathom_core::model::failure::{FailureKind, ModelFailure};
use fathom_core::model::{ModelRequest, ReplyMode, Speaker};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{
    ReplyError, WireProtocol, arguments_of, count, error_in, is_thought, object, schema_of,
    temperature, write,
};
use crate::http::classify_failure::ProviderMessage;
use crate::http::frames::FrameKind;
use crate::http::reply_builder::{ProviderStop, ReplyBuilder};
use crate::prices::{SchemaSupport, TemperatureSupport};

/// Headers of every request.
pub(crate) const HEADERS: &[(&str, &str)] = &[("anthropic-version", "2023-06-01")];

/// Tokens that the provider adds for a schema; a forced tool brings some hundred tokens of its own.
const SCHEMA_TOKENS: u64 = 1024;
/// Name of the forced tool.
const TOOL: &str = "reply";

/// The Messages API with one model.
#[derive(Debug)]
pub(crate) struct AnthropicProtocol {
    pub(crate) model: String,
    pub(crate) sampling: TemperatureSupport,
    pub(crate) schema: SchemaSupport,
}

#[derive(Serialize)]
struct MessagesBody<'a> {
    model: &'a str,
    max_tokens: u32,
    #[serde(skip_serializing_if = "String::is_empty")]
    system: String,
    messages: Vec<StreamLine<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Vec<ToolBody<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<ToolChoice>,
    stream: bool,
}

#[derive(Serialize)]
struct StreamLine<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Serialize)]
struct OutputConfig<'a> {
    format: OutputFormatBody<'a>,
}

#[derive(Serialize)]
struct OutputFormatBody<'a> {
    r#type: &'static str,
    schema: &'a RawValue,
}

#[derive(Serialize)]
struct ToolBody<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a RawValue,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ToolChoice {
    Auto,
    Tool { name: &'static str },
}

/// A whole reply. A tool's input is kept as the model wrote it.
#[derive(Deserialize)]
struct MessagesAnswer {
    #[serde(default)]
    content: Option<Vec<ContentBlock>>,
    #[serde(default)]
    stop_reason: Value,
    #[serde(default)]
    usage: Value,
}

#[derive(Deserialize)]
struct ContentBlock {
    #[serde(default)]
    r#type: Value,
    #[serde(default)]
    text: Value,
    #[serde(default)]
    name: Value,
    #[serde(default)]
    input: Option<Box<RawValue>>,
}

impl WireProtocol for AnthropicProtocol {
    fn path(&self) -> &'static str {
        "messages"
    }

    fn framing(&self) -> FrameKind {
        FrameKind::Events
    }

    fn schema_tokens(&self) -> u64 {
        SCHEMA_TOKENS
    }

    fn body(&self, request: &ModelRequest) -> Result<Vec<u8>, ModelFailure> {
        let schema = schema_of(request)?;
        let (native, tool) = match self.schema {
            // Models without schema support are made to call a single tool whose input is the reply.
            SchemaSupport::Native => (schema, None),
            SchemaSupport::Tool => (None, schema.map(as_tool).transpose()?),
        };
        let (tools, tool_choice) = match tool {
            Some(tool) => (Some(vec![tool]), Some(ToolChoice::Tool { name: TOOL })),
            None if request.tools.is_empty() => (None, None),
            None => (Some(offered(request)?), Some(ToolChoice::Auto)),
        };
        let (system, messages) = lines(request);
        write(&MessagesBody {
            model: &self.model,
            max_tokens: request.output_tokens_max,
            system,
            messages,
            temperature: match self.sampling {
                TemperatureSupport::Accepted => temperature(request),
                TemperatureSupport::TurnedAway => None,
            },
            output_config: native.map(|schema| OutputConfig {
                format: OutputFormatBody {
                    r#type: "json_schema",
                    schema,
                },
            }),
            tools,
            tool_choice,
            stream: request.delivery == ReplyMode::Streamed,
        })
    }

    fn whole(&self, body: &[u8], heard: &mut ReplyBuilder) -> Result<(), ReplyError> {
        let told = object(body)?;
        if let Some(said) = error_in(&told) {
            return Err(ReplyError::Said(said));
        }
        let answer: MessagesAnswer = serde_json::from_slice(body)
            .map_err(|_| ReplyError::Unexpected("expected a message"))?;
        let blocks = answer
            .content
            .ok_or(ReplyError::Unexpected("expected content"))?;
        for block in &blocks {
            match (block.r#type.as_str(), &block.input) {
                (Some("text"), _) => heard.text += block.text.as_str().unwrap_or_default(),
                (Some("tool_use"), Some(input)) if heard.offered => {
                    let name = block.name.as_str().unwrap_or_default();
                    heard.call(None, name, input.get())?;
                }
                (Some("tool_use"), Some(input)) => heard.text += input.get(),
                // Thinking blocks are not part of the answer.
                _ => {}
            }
        }
        stop(&answer.stop_reason, heard);
        usage(&answer.usage, heard);
        heard.ended = true;
        Ok(())
    }

    fn frame(&self, frame: &str, heard: &mut ReplyBuilder) -> Result<(), ReplyError> {
        let event = object(frame.as_bytes())?;
        match event["type"].as_str() {
            Some("message_start") => {
                usage(&event["message"]["usage"], heard);
                // The count so far is not final: the last event has the whole.
                heard.output_tokens = None;
            }
            Some("content_block_start") => {
                let block = &event["content_block"];
                if !is_thought(block) {
                    heard.text += block["text"].as_str().unwrap_or_default();
                }
                if block["type"] == "tool_use" {
                    let name = block["name"].as_str().unwrap_or_default();
                    heard.call(count(&event["index"]), name, "")?;
                }
            }
            Some("content_block_delta") => {
                let delta = &event["delta"];
                if heard.offered && delta["type"] == "input_json_delta" {
                    let part = delta["partial_json"].as_str().unwrap_or_default();
                    return heard.call(count(&event["index"]), "", part);
                }
                let words = match delta["type"].as_str() {
                    Some("text_delta") => &delta["text"],
                    Some("input_json_delta") => &delta["partial_json"],
                    _ => &Value::Null,
                };
                heard.text += words.as_str().unwrap_or_default();
            }
            Some("message_delta") => {
                stop(&event["delta"]["stop_reason"], heard);
                usage(&event["usage"], heard);
            }
            Some("message_stop") => heard.ended = true,
            Some("error") => {
                return Err(ReplyError::Said(
                    ProviderMessage::read(&event).unwrap_or_default(),
                ));
            }
            // Pings, ends of blocks, and future events.
            _ => {}
        }
        Ok(())
    }
}

/// System texts, separate from the conversation, which needs at least one message.
fn lines(request: &ModelRequest) -> (String, Vec<StreamLine<'_>>) {
    let mut system: Vec<&str> = Vec::new();
    let mut messages = Vec::new();
    for message in &request.messages {
        let content = message.text.as_str();
        match message.speaker {
            Speaker::System => system.push(content),
            Speaker::User => messages.push(StreamLine {
                role: "user",
                content,
            }),
            Speaker::Assistant => messages.push(StreamLine {
                role: "assistant",
                content,
            }),
        }
    }
    if messages.is_empty()
        && let Some(content) = system.pop()
    {
        messages.push(StreamLine {
            role: "user",
            content,
        });
    }
    (system.join("\n\n"), messages)
}

fn as_tool(schema: &RawValue) -> Result<ToolBody<'_>, ModelFailure> {
    let root: Value = serde_json::from_str(schema.get()).unwrap_or_default();
    if root["type"] != "object" {
        let detail = "this model takes a schema only when it is an object at its root";
        return Err(ModelFailure::unsent(FailureKind::Rejected, detail));
    }
    Ok(ToolBody {
        name: TOOL,
        description: "Gives the answer. Every answer goes through this tool.",
        input_schema: schema,
    })
}

fn offered(request: &ModelRequest) -> Result<Vec<ToolBody<'_>>, ModelFailure> {
    let mut tools = Vec::new();
    for tool in &request.tools {
        tools.push(ToolBody {
            name: &tool.name,
            description: tool.description.as_str(),
            input_schema: arguments_of(tool)?,
        });
    }
    Ok(tools)
}

fn stop(reason: &Value, heard: &mut ReplyBuilder) {
    if let Some(reason) = reason.as_str() {
        heard.stop = Some(match reason {
            "max_tokens" | "model_context_window_exceeded" => ProviderStop::Length,
            "refusal" => ProviderStop::Declined("the model declined".to_owned()),
            _ => ProviderStop::Complete,
        });
    }
}

/// Reads usage. Tokens read from or written to the provider's cache are input too.
fn usage(usage: &Value, heard: &mut ReplyBuilder) {
    if let Some(fresh) = count(&usage["input_tokens"]) {
        let cached = [
            &usage["cache_creation_input_tokens"],
            &usage["cache_read_input_tokens"],
        ];
        let cached = cached.into_iter().filter_map(count);
        heard.input_tokens = Some(cached.fold(fresh, u64::saturating_add));
    }
    heard.output_tokens = count(&usage["output_tokens"]).or(heard.output_tokens);
}
