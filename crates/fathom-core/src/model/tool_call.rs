//! Tools as a model sees them, and their arguments in one canonical form.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::model::{ChatMessage, ModelRequest, ReplyMode, Speaker};
use crate::text::{Text, VisitTexts};

/// A tool that a model may call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolSpec {
    pub name: String,
    pub description: Text,
    /// JSON schema of its arguments, as JSON text.
    pub schema: Text,
}

impl VisitTexts for ToolSpec {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        f(&mut self.description);
        f(&mut self.schema);
    }
}

/// A call of a tool that a model wants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The tool, as the model named it: there may be none of this name.
    pub name: Text,
    /// Its arguments as JSON text, as the model wrote them.
    pub arguments: Text,
}

impl VisitTexts for ToolCall {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        f(&mut self.name);
        f(&mut self.arguments);
    }
}

/// Instructions, beside the tools, for a model that has no tool calls of its own.
const HOW: &str = "Reply with one JSON object and nothing else: {\"tool\": NAME, \"arguments\": {…}} to have a tool called, \
                   or {\"answer\": \"…\"} to end with your answer.";

/// The request for a model that has no calls of its own: it is told of the tools in words and held to [`as_schema`].
/// None when the request offers no tools.
pub fn in_words(request: &ModelRequest) -> Option<ModelRequest> {
    if request.tools.is_empty() {
        return None;
    }
    let mut told = "Tools that you may have called:\n".to_owned();
    for tool in &request.tools {
        let (description, schema) = (tool.description.as_str(), tool.schema.as_str());
        // Writing to a string cannot fail.
        let _ = writeln!(
            told,
            "- {}: {description}\n  arguments: {schema}",
            tool.name
        );
    }
    told.push_str(HOW);
    let mut messages = request.messages.clone();
    match messages.first_mut() {
        Some(first) if first.speaker == Speaker::System => {
            first.text = Text::new(format!("{}\n\n{told}", first.text.as_str()));
        }
        _ => messages.insert(0, ChatMessage::new(Speaker::System, told)),
    }
    Some(ModelRequest {
        messages,
        schema: Some(Text::new(as_schema(&request.tools).to_string())),
        tools: Vec::new(),
        // Nobody wants to watch JSON being written.
        delivery: ReplyMode::Whole,
        ..request.clone()
    })
}

/// The form of a reply where calls are written as JSON: a call of one of these tools, or an answer.
pub fn as_schema(tools: &[ToolSpec]) -> Value {
    let form = |properties: Value, required: &[&str]| {
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    };
    let mut forms: Vec<Value> = tools
        .iter()
        .map(|tool| {
            let properties = json!({"tool": {"const": tool.name}, "arguments": arguments_of(tool)});
            form(properties, &["tool", "arguments"])
        })
        .collect();
    forms.push(form(json!({"answer": {"type": "string"}}), &["answer"]));
    json!({ "anyOf": forms })
}

/// The schema of a tool's arguments where it can stand inside another one, else any object.
fn arguments_of(tool: &ToolSpec) -> Value {
    // A reference points within its own document, and would point elsewhere in another.
    let is_movable = !tool.schema.as_str().contains("\"$ref\"");
    match serde_json::from_str(tool.schema.as_str()) {
        Ok(Value::Object(mut schema)) if is_movable => {
            // They belong to a document of its own, and here it is a part of another.
            schema.shift_remove("$schema");
            schema.shift_remove("$id");
            Value::Object(schema)
        }
        _ => json!({"type": "object"}),
    }
}

/// A reply of a model that writes its calls as JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolReply {
    /// It wants a tool called.
    Call(ToolCall),
    Answer(String),
}

/// Reasons why a reply is neither a call nor an answer in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolReplyError {
    /// It is something else than a JSON object.
    #[error("the reply is no JSON object")]
    NoObject,
    /// It is an object of another form.
    #[error("the reply is neither a call nor an answer")]
    Neither,
}

/// Reads a reply in the form of [`as_schema`].
pub fn read_reply(text: &str) -> Result<ToolReply, ToolReplyError> {
    let Ok(Value::Object(said)) = serde_json::from_str(text) else {
        return Err(ToolReplyError::NoObject);
    };
    match (said.get("tool"), said.get("arguments"), said.get("answer")) {
        (Some(Value::String(name)), Some(arguments), None) if said.len() == 2 => {
            Ok(ToolReply::Call(ToolCall {
                name: Text::from(name.as_str()),
                arguments: Text::new(arguments.to_string()),
            }))
        }
        (None, None, Some(Value::String(answer))) if said.len() == 1 => {
            Ok(ToolReply::Answer(answer.clone()))
        }
        _ => Err(ToolReplyError::Neither),
    }
}

/// The words and calls of a reply where calls are written as JSON. What is in no such form is words.
pub fn out_of_words(text: String) -> (String, Vec<ToolCall>) {
    match read_reply(&text) {
        Ok(ToolReply::Call(call)) => (String::new(), vec![call]),
        // An empty answer stays visible as what it is.
        Ok(ToolReply::Answer(answer)) if !answer.trim().is_empty() => (answer, Vec::new()),
        Ok(ToolReply::Answer(_)) | Err(_) => (text, Vec::new()),
    }
}

/// JSON in the one form that is hashed and compared: keys in order, no spaces.
pub fn canonical(value: &Value) -> String {
    sorted(value).to_string()
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            let entries = entries.into_iter();
            Value::Object(
                entries
                    .map(|(key, value)| (key.clone(), sorted(value)))
                    .collect(),
            )
        }
        Value::Array(values) => Value::Array(values.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

#[cfg(test)]
#[path = "tool_call_tests.rs"]
mod tests;
