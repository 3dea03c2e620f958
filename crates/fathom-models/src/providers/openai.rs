//! Chat completions of `OpenAI` and compatible servers.

use fathom_core::failure::ModelFailure;
use fathom_core::model::{Delivery, Request};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::schema::is_strict;
use super::{
    Fault, Function, Protocol, calls, count, error_in, functions, object, schema_of, temperature,
    words, write,
};
use crate::framing::Framing;
use crate::heard::{Heard, Stop};
use crate::prices::{OutputCap, Sampling};

/// Tokens that the provider adds for a schema.
const SCHEMA_TOKENS: u64 = 64;

/// Chat completions with one model.
#[derive(Debug)]
pub(crate) struct OpenAi {
    pub(crate) model: String,
    pub(crate) cap: OutputCap,
    pub(crate) sampling: Sampling,
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Line<'a>>,
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
    tools: Vec<Function<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'static str>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
}

#[derive(Serialize)]
struct Line<'a> {
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

impl Protocol for OpenAi {
    fn path(&self) -> &'static str {
        "chat/completions"
    }

    fn framing(&self) -> Framing {
        Framing::Events
    }

    fn schema_tokens(&self) -> u64 {
        SCHEMA_TOKENS
    }

    fn body(&self, request: &Request) -> Result<Vec<u8>, ModelFailure> {
        let stream = request.delivery == Delivery::Streamed;
        let most = Some(request.output_tokens_max);
        let (max_tokens, max_completion_tokens) = match self.cap {
            OutputCap::MaxTokens => (most, None),
            OutputCap::MaxCompletionTokens => (None, most),
        };
        write(&Body {
            model: &self.model,
            messages: request
                .messages
                .iter()
                .map(|message| Line {
                    role: message.speaker.to_string(),
                    content: message.text.as_str(),
                })
                .collect(),
            max_tokens,
            max_completion_tokens,
            temperature: match self.sampling {
                Sampling::Accepted => temperature(request),
                Sampling::TurnedAway => None,
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

    fn whole(&self, body: &[u8], heard: &mut Heard) -> Result<(), Fault> {
        let answer = object(body)?;
        if let Some(said) = error_in(&answer) {
            return Err(Fault::Said(said));
        }
        let choice = &answer["choices"][0];
        if !choice.is_object() {
            return Err(Fault::Unexpected("expected a choice"));
        }
        hear(&choice["message"], choice, heard)?;
        usage(&answer["usage"], heard);
        heard.ended = true;
        Ok(())
    }

    fn frame(&self, frame: &str, heard: &mut Heard) -> Result<(), Fault> {
        if frame.trim() == "[DONE]" {
            heard.ended = true;
            return Ok(());
        }
        let chunk = object(frame.as_bytes())?;
        if let Some(said) = error_in(&chunk) {
            return Err(Fault::Said(said));
        }
        // A chunk without choices carries usage, or a server's own extension.
        let choice = &chunk["choices"][0];
        hear(&choice["delta"], choice, heard)?;
        usage(&chunk["usage"], heard);
        Ok(())
    }
}

fn hear(said: &Value, choice: &Value, heard: &mut Heard) -> Result<(), Fault> {
    heard.text += &words(&said["content"]);
    calls(said, heard)?;
    if let Some(finish) = choice["finish_reason"]
        .as_str()
        .filter(|word| !word.is_empty())
    {
        heard.stop.get_or_insert(match finish {
            "length" | "max_tokens" => Stop::Length,
            "content_filter" => {
                Stop::Declined("the provider's filter stopped the reply".to_owned())
            }
            _ => Stop::Complete,
        });
    }
    let refusal = words(&said["refusal"]);
    if !refusal.is_empty() {
        match &mut heard.stop {
            Some(Stop::Declined(words)) => *words += &refusal,
            stop => *stop = Some(Stop::Declined(refusal)),
        }
    }
    Ok(())
}

fn usage(usage: &Value, heard: &mut Heard) {
    heard.input_tokens = count(&usage["prompt_tokens"]).or(heard.input_tokens);
    heard.output_tokens = count(&usage["completion_tokens"]).or(heard.output_tokens);
}
