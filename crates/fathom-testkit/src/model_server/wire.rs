//! The three wire formats: what a request says, and how a reply is told.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::behaviour::{FinishCode, ReplyScript, ReportedUsage};
use super::http::RawRequest;

/// A wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireApi {
    /// `POST …/chat/completions`.
    OpenAi,
    /// `POST …/messages`.
    Anthropic,
    /// `POST …/api/chat`.
    Ollama,
    /// `GET …/models` and `GET …/api/tags`.
    Listing,
}

impl WireApi {
    fn of(method: &str, path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or_default();
        match method {
            "POST" if path.ends_with("/chat/completions") => Some(Self::OpenAi),
            "POST" if path.ends_with("/messages") => Some(Self::Anthropic),
            "POST" if path.ends_with("/api/chat") => Some(Self::Ollama),
            "GET" if path.ends_with("/models") || path.ends_with("/api/tags") => {
                Some(Self::Listing)
            }
            _ => None,
        }
    }

    /// Its name in logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Ollama => "ollama",
            Self::Listing => "listing",
        }
    }
}

/// A request as the server understood it.
#[derive(Clone, Debug)]
pub struct SeenRequest {
    /// Place in the order of arrival, from zero.
    pub number: u64,
    /// The wire format.
    pub api: WireApi,
    /// The model that was asked.
    pub model: String,
    /// All messages, each as `speaker: text` and a line feed.
    pub prompt: String,
    /// True if the request asked for a stream.
    pub streamed: bool,
    /// The JSON schema that the reply must meet.
    pub schema: Option<Value>,
    /// Headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The whole body.
    pub body: Value,
}

impl SeenRequest {
    /// Understands a request; nothing when it is for no model.
    pub(super) fn of(number: u64, raw: RawRequest) -> Option<Self> {
        let api = WireApi::of(&raw.method, &raw.path)?;
        let body: Value = match api {
            WireApi::Listing => Value::Null,
            WireApi::OpenAi | WireApi::Anthropic | WireApi::Ollama => {
                serde_json::from_slice(&raw.body).ok()?
            }
        };
        let schema = match api {
            WireApi::OpenAi => body.pointer("/response_format/json_schema/schema"),
            WireApi::Anthropic => body.pointer("/output_config/format/schema").or_else(|| {
                body.pointer("/tool_choice/name")
                    .and_then(|_| body.pointer("/tools/0/input_schema"))
            }),
            WireApi::Ollama => body.get("format"),
            WireApi::Listing => None,
        };
        Some(Self {
            number,
            api,
            model: text(&body["model"]),
            prompt: prompt(&body),
            // Ollama streams unless told not to.
            streamed: body["stream"].as_bool().unwrap_or(api == WireApi::Ollama),
            schema: schema.cloned(),
            headers: raw.headers,
            body,
        })
    }

    /// The header's value, by its lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    fn forced_tool(&self) -> Option<&str> {
        self.body.pointer("/tool_choice/name")?.as_str()
    }

    fn wants_usage(&self) -> bool {
        self.body.pointer("/stream_options/include_usage") == Some(&Value::Bool(true))
    }
}

fn prompt(body: &Value) -> String {
    let mut prompt = String::new();
    let mut say = |speaker: &str, said: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(prompt, "{speaker}: {said}");
    };
    if let Some(system) = body.get("system") {
        say("system", &content(system));
    }
    for message in body["messages"].as_array().into_iter().flatten() {
        say(&text(&message["role"]), &content(&message["content"]));
    }
    prompt
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Text, or the text of all parts.
fn content(value: &Value) -> String {
    match value.as_array() {
        Some(parts) => parts.iter().map(|part| text(&part["text"])).collect(),
        None => text(value),
    }
}

/// A streamed reply, ready to be written.
pub(super) struct StreamedReply {
    pub(super) content_type: &'static str,
    pub(super) opening: String,
    pub(super) pieces: Vec<String>,
    pub(super) closing: String,
}

impl ReplyScript {
    fn usage_of(&self, seen: &SeenRequest) -> Option<(u64, u64)> {
        let words = |text: &str| text.split_whitespace().count() as u64;
        match self.usage {
            ReportedUsage::Words => Some((words(&seen.prompt), words(&self.text))),
            ReportedUsage::Says { input, output } => Some((input, output)),
            ReportedUsage::Missing => None,
        }
    }

    fn finish_word(&self, stop: &str, length: &str, refusal: &str) -> Value {
        match &self.finish {
            FinishCode::Stop => json!(stop),
            FinishCode::Length => json!(length),
            FinishCode::Refusal => json!(refusal),
            FinishCode::Named(word) => json!(word),
            FinishCode::Missing => Value::Null,
        }
    }

    fn pieces(&self) -> Vec<String> {
        match &self.chunks {
            Some(chunks) => chunks.clone(),
            None => self.text.split_inclusive(' ').map(str::to_owned).collect(),
        }
    }

    fn openai_finish(&self) -> Value {
        let stop = if self.calls.is_empty() {
            "stop"
        } else {
            "tool_calls"
        };
        self.finish_word(stop, "length", "content_filter")
    }

    /// A message in the form of `OpenAI` and Ollama, with all calls.
    fn message(&self, said: &str, arguments: ToolArgumentsText) -> Value {
        let mut message = json!({"role": "assistant", "content": said});
        if !self.calls.is_empty() {
            let calls = self.calls.iter().enumerate();
            let call = |(index, (name, written)): (usize, &(String, String))| match arguments {
                ToolArgumentsText::Text => json!({
                    "id": format!("call_{index}"),
                    "type": "function",
                    "function": {"name": name, "arguments": written},
                }),
                ToolArgumentsText::Json => {
                    json!({"function": {"name": name, "arguments": json_or_text(written)}})
                }
            };
            message["tool_calls"] = calls.map(call).collect();
        }
        message
    }

    /// The body of a reply in one piece.
    pub(super) fn whole(&self, seen: &SeenRequest) -> String {
        let usage = self.usage_of(seen);
        let body = match seen.api {
            WireApi::OpenAi => json!({
                "id": format!("chatcmpl-{}", seen.number),
                "object": "chat.completion",
                "created": 1_700_000_000,
                "model": seen.model,
                "choices": [{
                    "index": 0,
                    "message": self.message(&self.text, ToolArgumentsText::Text),
                    "finish_reason": self.openai_finish(),
                }],
                "usage": openai_usage(usage),
            }),
            WireApi::Anthropic => self.anthropic_whole(seen, usage),
            WireApi::Ollama => self.ollama_line(seen, &self.text, usage),
            WireApi::Listing => json!({
                "object": "list",
                "data": [{"id": "scripted", "object": "model"}],
                "models": [{"name": "scripted"}],
            }),
        };
        body.to_string()
    }

    /// The reply as a stream.
    pub(super) fn streamed(&self, seen: &SeenRequest) -> StreamedReply {
        match seen.api {
            WireApi::OpenAi | WireApi::Listing => self.openai_stream(seen),
            WireApi::Anthropic => self.anthropic_stream(seen),
            WireApi::Ollama => self.ollama_stream(seen),
        }
    }

    fn openai_stream(&self, seen: &SeenRequest) -> StreamedReply {
        let chunk = |choices: Value, usage: Value| {
            let mut chunk = json!({
                "id": format!("chatcmpl-{}", seen.number),
                "object": "chat.completion.chunk",
                "created": 1_700_000_000,
                "model": seen.model,
                "choices": choices,
            });
            if !usage.is_null() {
                chunk["usage"] = usage;
            }
            format!("data: {chunk}\n\n")
        };
        let delta = |delta: Value, finish: Value| {
            let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
            chunk(json!([choice]), Value::Null)
        };
        let mut closing = String::new();
        for (index, (name, arguments)) in self.calls.iter().enumerate() {
            let begun = json!({
                "index": index, "id": format!("call_{index}"), "type": "function",
                "function": {"name": name, "arguments": ""},
            });
            closing += &delta(json!({"tool_calls": [begun]}), Value::Null);
            for piece in halves(arguments) {
                let more = json!({"index": index, "function": {"arguments": piece}});
                closing += &delta(json!({"tool_calls": [more]}), Value::Null);
            }
        }
        closing += &delta(json!({}), self.openai_finish());
        if seen.wants_usage() && self.usage != ReportedUsage::Missing {
            closing += &chunk(json!([]), openai_usage(self.usage_of(seen)));
        }
        closing += "data: [DONE]\n\n";
        StreamedReply {
            content_type: "text/event-stream",
            opening: delta(json!({"role": "assistant", "content": ""}), Value::Null),
            pieces: self
                .pieces()
                .iter()
                .map(|piece| delta(json!({"content": piece}), Value::Null))
                .collect(),
            closing,
        }
    }

    fn anthropic_whole(&self, seen: &SeenRequest, usage: Option<(u64, u64)>) -> Value {
        let block = match seen.forced_tool() {
            Some(tool) => {
                let input: Value = serde_json::from_str(&self.text).unwrap_or(json!({}));
                json!({"type": "tool_use", "id": "toolu_0", "name": tool, "input": input})
            }
            None => json!({"type": "text", "text": self.text}),
        };
        let mut content = vec![block];
        for (index, (name, arguments)) in self.calls.iter().enumerate() {
            content.push(json!({
                "type": "tool_use", "id": format!("toolu_{index}"), "name": name,
                "input": json_or_text(arguments),
            }));
        }
        let mut body = json!({
            "id": format!("msg_{}", seen.number),
            "type": "message",
            "role": "assistant",
            "model": seen.model,
            "content": content,
            "stop_reason": self.anthropic_stop(seen),
            "stop_sequence": null,
        });
        if let Some((input, output)) = usage {
            body["usage"] = json!({"input_tokens": input, "output_tokens": output});
        }
        body
    }

    fn anthropic_stop(&self, seen: &SeenRequest) -> Value {
        let stop = match seen.forced_tool() {
            None if self.calls.is_empty() => "end_turn",
            _ => "tool_use",
        };
        self.finish_word(stop, "max_tokens", "refusal")
    }

    fn anthropic_stream(&self, seen: &SeenRequest) -> StreamedReply {
        let event = |body: Value| format!("event: {}\ndata: {body}\n\n", text(&body["type"]));
        let (input, output) = self.usage_of(seen).unwrap_or_default();
        let mut message = json!({
            "id": format!("msg_{}", seen.number), "type": "message", "role": "assistant",
            "model": seen.model, "content": [], "stop_reason": null,
        });
        let mut ending = json!({
            "type": "message_delta",
            "delta": {"stop_reason": self.anthropic_stop(seen), "stop_sequence": null},
        });
        if self.usage != ReportedUsage::Missing {
            message["usage"] = json!({"input_tokens": input, "output_tokens": 1});
            ending["usage"] = json!({"output_tokens": output});
        }
        let block = match seen.forced_tool() {
            Some(tool) => json!({"type": "tool_use", "id": "toolu_0", "name": tool, "input": {}}),
            None => json!({"type": "text", "text": ""}),
        };
        let delta = |piece: &String| match seen.forced_tool() {
            Some(_) => json!({"type": "input_json_delta", "partial_json": piece}),
            None => json!({"type": "text_delta", "text": piece}),
        };
        let opening = event(json!({"type": "message_start", "message": message}))
            + &event(json!({"type": "content_block_start", "index": 0, "content_block": block}))
            + &event(json!({"type": "ping"}));
        let mut closing = event(json!({"type": "content_block_stop", "index": 0}));
        for (index, (name, arguments)) in (1..).zip(&self.calls) {
            let block = json!({
                "type": "tool_use", "id": format!("toolu_{index}"), "name": name, "input": {},
            });
            closing += &event(
                json!({"type": "content_block_start", "index": index, "content_block": block}),
            );
            for piece in halves(arguments) {
                let delta = json!({"type": "input_json_delta", "partial_json": piece});
                closing +=
                    &event(json!({"type": "content_block_delta", "index": index, "delta": delta}));
            }
            closing += &event(json!({"type": "content_block_stop", "index": index}));
        }
        closing += &event(ending);
        closing += &event(json!({"type": "message_stop"}));
        StreamedReply {
            content_type: "text/event-stream",
            opening,
            pieces: self
                .pieces()
                .iter()
                .map(|piece| {
                    let delta = delta(piece);
                    event(json!({"type": "content_block_delta", "index": 0, "delta": delta}))
                })
                .collect(),
            closing,
        }
    }

    fn ollama_line(&self, seen: &SeenRequest, said: &str, usage: Option<(u64, u64)>) -> Value {
        let mut line = json!({
            "model": seen.model,
            "created_at": "2026-01-01T00:00:00Z",
            "message": self.message(said, ToolArgumentsText::Json),
            "done": true,
            "done_reason": self.finish_word("stop", "length", "refusal"),
        });
        if let Some((input, output)) = usage {
            line["prompt_eval_count"] = json!(input);
            line["eval_count"] = json!(output);
        }
        line
    }

    fn ollama_stream(&self, seen: &SeenRequest) -> StreamedReply {
        let piece = |said: &String| {
            let line = json!({
                "model": seen.model,
                "created_at": "2026-01-01T00:00:00Z",
                "message": {"role": "assistant", "content": said},
                "done": false,
            });
            format!("{line}\n")
        };
        let closing = self.ollama_line(seen, "", self.usage_of(seen));
        StreamedReply {
            content_type: "application/x-ndjson",
            opening: String::new(),
            pieces: self.pieces().iter().map(piece).collect(),
            closing: format!("{closing}\n"),
        }
    }
}

/// Encoding of a call's arguments.
#[derive(Clone, Copy)]
enum ToolArgumentsText {
    /// As a string that holds JSON.
    Text,
    /// As JSON.
    Json,
}

/// Value of a text that is JSON, else the text itself.
fn json_or_text(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| json!(text))
}

/// Two pieces of a text, for a stream.
fn halves(text: &str) -> [&str; 2] {
    let (head, tail) = text.split_at(text.floor_char_boundary(text.len() / 2));
    [head, tail]
}

fn openai_usage(usage: Option<(u64, u64)>) -> Value {
    match usage {
        Some((input, output)) => json!({
            "prompt_tokens": input,
            "completion_tokens": output,
            "total_tokens": input.saturating_add(output),
        }),
        None => Value::Null,
    }
}
