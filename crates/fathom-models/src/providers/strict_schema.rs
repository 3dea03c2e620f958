//! Check for the subset of JSON schema that strict decoding accepts.

use serde_json::Value;

/// True if every object of the schema lists all its members as required and forbids others.
///
/// `OpenAI` rejects other schemas in strict mode, and enforces them less strictly without it.
pub(super) fn is_strict(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => {
            let closed = match fields.get("properties").and_then(Value::as_object) {
                Some(properties) => {
                    let required: Vec<&str> = schema["required"]
                        .as_array()
                        .into_iter()
                        .flatten()
                        .filter_map(Value::as_str)
                        .collect();
                    fields.get("additionalProperties") == Some(&Value::Bool(false))
                        && properties
                            .keys()
                            .all(|name| required.contains(&name.as_str()))
                }
                None => fields.get("type").and_then(Value::as_str) != Some("object"),
            };
            closed && fields.values().all(is_strict)
        }
        Value::Array(items) => items.iter().all(is_strict),
        _ => true,
    }
}
