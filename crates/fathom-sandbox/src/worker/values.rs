//! Values of the interpreter as JSON, and back.

use std::fmt;

use monty_types::MontyObject;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Value, json};

use super::calls::is_fault;
use crate::frames::VALUE_BYTES_MAX;

/// Maximum depth of a value.
const VALUE_DEPTH_MAX: usize = 200;

/// Reads JSON into a value.
pub(super) fn from_json(json: &str) -> Result<MontyObject, serde_json::Error> {
    serde_json::from_str::<JsonValue>(json).map(|json| json.0)
}

/// Converts parsed JSON to a value.
pub(super) fn from_value(value: Value) -> MontyObject {
    JsonValue::deserialize(value).map_or(MontyObject::None, |json| json.0)
}

struct JsonValue(MontyObject);

impl<'de> Deserialize<'de> for JsonValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonDecoder).map(JsonValue)
    }
}

struct JsonDecoder;

impl<'de> Visitor<'de> for JsonDecoder {
    type Value = MontyObject;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<MontyObject, E> {
        Ok(MontyObject::None)
    }

    fn visit_bool<E>(self, value: bool) -> Result<MontyObject, E> {
        Ok(MontyObject::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<MontyObject, E> {
        Ok(MontyObject::Int(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<MontyObject, E> {
        Ok(i64::try_from(value)
            .map_or_else(|_| MontyObject::BigInt(value.into()), MontyObject::Int))
    }

    fn visit_f64<E>(self, value: f64) -> Result<MontyObject, E> {
        Ok(MontyObject::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<MontyObject, E> {
        Ok(MontyObject::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<MontyObject, E> {
        Ok(MontyObject::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<MontyObject, A::Error> {
        let mut items = Vec::new();
        while let Some(JsonValue(item)) = list.next_element()? {
            items.push(item);
        }
        Ok(MontyObject::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<MontyObject, A::Error> {
        let mut pairs = Vec::new();
        while let Some((key, JsonValue(value))) = map.next_entry::<String, JsonValue>()? {
            pairs.push((MontyObject::String(key), value));
        }
        Ok(MontyObject::dict(pairs))
    }
}

/// A value that cannot be handed over. The cell sees the text in an exception.
#[derive(Debug, thiserror::Error)]
pub(super) enum GivenError {
    #[error("the value is too large or too deep to be handed over")]
    TooLarge,
    /// A fault of a question is in the value.
    #[error("{0}")]
    Fault(String),
}

/// A value as it is handed over: a string as it is, all else as JSON.
pub(super) fn given(value: &MontyObject) -> Result<Value, GivenError> {
    if let MontyObject::String(text) = value {
        if text.len() > VALUE_BYTES_MAX {
            return Err(GivenError::TooLarge);
        }
        return Ok(json!({ "form": "text", "text": text }));
    }
    let mut text = String::new();
    write(value, &mut text, 0)?;
    if text.len() > VALUE_BYTES_MAX {
        return Err(GivenError::TooLarge);
    }
    Ok(json!({ "form": "json", "text": text }))
}

fn write(value: &MontyObject, into: &mut String, depth: usize) -> Result<(), GivenError> {
    if depth > VALUE_DEPTH_MAX || into.len() > VALUE_BYTES_MAX {
        return Err(GivenError::TooLarge);
    }
    match value {
        MontyObject::None => into.push_str("null"),
        MontyObject::Bool(value) => into.push_str(if *value { "true" } else { "false" }),
        MontyObject::Int(value) => into.push_str(&value.to_string()),
        MontyObject::BigInt(value) => into.push_str(&value.to_string()),
        MontyObject::Float(value) => into.push_str(&json!(value).to_string()),
        MontyObject::String(text) => into.push_str(&json!(text).to_string()),
        MontyObject::List(items)
        | MontyObject::Tuple(items)
        | MontyObject::Set(items)
        | MontyObject::FrozenSet(items)
        | MontyObject::NamedTuple { values: items, .. } => {
            into.push('[');
            for (number, item) in items.iter().enumerate() {
                separate(number, into);
                write(item, into, depth + 1)?;
            }
            into.push(']');
        }
        MontyObject::Dict(pairs) => {
            into.push('{');
            for (number, (key, value)) in pairs.iter().enumerate() {
                separate(number, into);
                into.push_str(&json!(key_text(key)).to_string());
                into.push_str(": ");
                write(value, into, depth + 1)?;
            }
            into.push('}');
        }
        // What was not answered is no part of an answer.
        MontyObject::Exception {
            arg: Some(message), ..
        } if is_fault(message) => return Err(GivenError::Fault(message.clone())),
        other => into.push_str(&json!(other.to_string()).to_string()),
    }
    Ok(())
}

fn separate(number: usize, into: &mut String) {
    if number > 0 {
        into.push_str(", ");
    }
}

fn key_text(key: &MontyObject) -> String {
    match key {
        MontyObject::None => "null".to_owned(),
        MontyObject::Bool(value) => value.to_string(),
        other => other.to_string(),
    }
}
