//! The smallest value that a JSON schema allows, for a server that was told nothing else.

use serde_json::{Map, Value, json};

/// Deepest nesting that is followed.
const DEPTH_MAX: usize = 16;

/// A value that meets `schema`, as far as the usual keywords go.
pub(super) fn sample(schema: &Value) -> Value {
    build(schema, schema, DEPTH_MAX)
}

fn build(schema: &Value, root: &Value, depth: usize) -> Value {
    let Some(depth) = depth.checked_sub(1) else {
        return Value::Null;
    };
    if let Some(target) = schema["$ref"].as_str() {
        let found = target.strip_prefix('#').and_then(|path| root.pointer(path));
        return found.map_or(Value::Null, |found| build(found, root, depth));
    }
    if let Some(fixed) = schema.get("const").or_else(|| schema["enum"].get(0)) {
        return fixed.clone();
    }
    if let Some(first) = schema["anyOf"].get(0).or_else(|| schema["oneOf"].get(0)) {
        return build(first, root, depth);
    }
    let kind = schema["type"]
        .as_str()
        .or_else(|| schema["type"][0].as_str());
    match kind {
        Some("object") => object(schema, root, depth),
        Some("array") => {
            let least = schema["minItems"].as_u64().unwrap_or(0);
            (0..least)
                .map(|_| build(&schema["items"], root, depth))
                .collect()
        }
        Some("string") => {
            let least = usize::try_from(schema["minLength"].as_u64().unwrap_or(0)).unwrap_or(0);
            json!(format!("{:x<least$}", "ok"))
        }
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(1)),
        Some("boolean") => json!(true),
        _ => Value::Null,
    }
}

fn object(schema: &Value, root: &Value, depth: usize) -> Value {
    let required = schema["required"].as_array().into_iter().flatten();
    let members: Map<String, Value> = required
        .filter_map(Value::as_str)
        .map(|name| {
            let member = build(&schema["properties"][name], root, depth);
            (name.to_owned(), member)
        })
        .collect();
    Value::Object(members)
}
