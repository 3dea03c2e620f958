//! Chat completions of `OpenAI` and compatible servers.

use fathom_core::model::failure::ModelFailure;
use fathom_core::model::{ModelRequest, ReplyMode};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::strict_schema::is_strict;
use super::{
    FunctionSchema, ReplyError, WireProtocol, calls, count, error_in, functions, object, schema_of,
    temperature, words, write,
};
use crate::http::frames::FrameKind;
use crate::http::reply_builder::{ProviderStop, ReplyBuilder};
use crate::prices::{OutputCap, TemperatureSupport};

/// Tokens that the provider adds for a schema.
const SCHEMA_TOKENS: u64 = 64;

/// Chat completions with one model.
#[derive(Debug)]
pub(crate) struct OpenAi {
    pub(crate) model: String,
    pub(crate) cap: OutputCap,
    pub(crate) sampling: TemperatureSupport,
}

#[derive(Serialize)]
struct ChatBody<'a> {
    model: &'a str,
    messages: Vec<ChatLine<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<FunctionSchema<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'static str>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
}

#[derive(Serialize)]
struct ChatLine<'a> {
    role: String,
    content: &'a str,
}

#[derive(Serialize)]
struct ResponseFormat<'a> {
    r#type: &'static str,
    json_schema: NamedSchema<'a>,
}

#[derive(Serialize)]
struct NamedSchema<'a> {
    name: &'static str,
    strict: bool,
    schema: &'a RawValue,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

impl WireProtocol for OpenAi {
    fn path(&self) -> &'static str {
        "chat/completions"
    }

    fn framing(&self) -> FrameKind {
        FrameKind::Events
    }

    fn schema_tokens(&self) -> u64 {
        SCHEMA_TOKENS
    }

    fn body(&self, request: &ModelRequest) -> Result<Vec<u8>, ModelFailure> {
        let stream = request.delivery == ReplyMode::Streamed;
        let most = Some(request.output_tokens_max);
        let (max_tokens, max_completion_tokens) = match self.cap {
            OutputCap::MaxTokens => (most, None),
            OutputCap::MaxCompletionTokens => (None, most),
        };
        write(&ChatBody {
            model: &self.model,
            messages: request
                .messages
                .iter()
                .map(|message| ChatLine {
                    role: message.speaker.to_string(),
                    content: message.text.as_str(),
                })
                .collect(),
            max_tokens,
            max_completion_tokens,
            temperature: match self.sampling {
                TemperatureSupport::Accepted => temperature(request),
                TemperatureSupport::TurnedAway => None,
            },
            seed: request.seed,
            response_format: schema_of(request)?.map(|schema| ResponseFormat {
                r#type: "json_schema",
                json_schema: NamedSchema {
                    name: "reply",
                    strict: serde_json::from_str(schema.get())
                        .is_ok_and(|schema: Value| is_strict(&schema)),
                    schema,
                },
            }),
            tools: functions(request)?,
            // Some servers reject `tool_choice` without tools.
            tool_choice: (!request.tools.is_empty()).then_some("auto"),
            stream,
            stream_options: stream.then_some(StreamOptions {
                include_usage: true,
            }),
        })
    }

    fn whole(&self, body: &[u8], heard: &mut ReplyBuilder) -> Result<(), ReplyError> {
        let answer = object(body)?;
        if let Some(said) = error_in(&answer) {
            return Err(ReplyError::Said(said));
        }
        let choice = &answer["choices"][0];
        if !choice.is_object() {
            return Err(ReplyError::Unexpected("expected a choice"));
        }
        hear(&choice["message"], choice, heard)?;
        usage(&answer["usage"], heard);
        heard.ended = true;
        Ok(())
    }

    fn frame(&self, frame: &str, heard: &mut ReplyBuilder) -> Result<(), ReplyError> {
        if frame.trim() == "[DONE]" {
            heard.ended = true;
            return Ok(());
        }
        let chunk = object(frame.as_bytes())?;
        if let Some(said) = error_in(&chunk) {
            return Err(ReplyError::Said(said));
        }
        // A chunk without choices carries usage, or a server's own extension.
        let choice = &chunk["choices"][0];
        hear(&choice["delta"], choice, heard)?;
        usage(&chunk["usage"], heard);
        Ok(())
    }
}

fn hear(said: &Value, choice: &Value, heard: &mut ReplyBuilder) -> Result<(), ReplyError> {
    heard.text += &words(&said["content"]);
    calls(said, heard)?;
    if let Some(finish) = choice["finish_reason"]
        .as_str()
        .filter(|word| !word.is_empty())
    {
        heard.stop.get_or_insert(match finish {
            "length" | "max_tokens" => ProviderStop::Length,
            "content_filter" => {
                ProviderStop::Declined("the provider's filter stopped the reply".to_owned())
            }
            _ => ProviderStop::Complete,
        });
    }
    let refusal = words(&said["refusal"]);
    if !refusal.is_empty() {
        match &mut heard.stop {
            Some(ProviderStop::Declined(words)) => *words += &refusal,
            stop => *stop = Some(ProviderStop::Declined(refusal)),
        }
    }
    Ok(())
}

fn usage(usage: &Value, heard: &mut ReplyBuilder) {
    heard.input_tokens = count(&usage["prompt_tokens"]).or(heard.input_tokens);
    heard.output_tokens = count(&usage["completion_tokens"]).or(heard.output_tokens);
}
