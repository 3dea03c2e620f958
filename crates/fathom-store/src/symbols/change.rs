//! What may be written, and what a change makes of a symbol.

use fathom_core::symbols::{Facets, Kit, Persona, Symbol};
use serde::Serialize;
use serde_json::{Map, Value};

/// Longest id, in characters.
pub const ID_CHARS_MAX: usize = 200;

/// Largest symbol, kit or persona, in bytes of JSON.
pub const SYMBOL_BYTES_MAX: usize = 256 << 10;

/// Deepest nesting of what a catalogue says beside the known fields. Readers of JSON give up at 128.
const NESTING_MAX: usize = 64;

/// Something with an id, as it is kept.
pub(super) trait Entry: Serialize {
    fn id(&self) -> &str;

    /// Everything in it that may nest.
    fn others(&self) -> Vec<&Map<String, Value>>;

    /// A value that stands outside of those.
    fn value(&self) -> Option<&Value> {
        None
    }
}

impl Entry for Symbol {
    fn id(&self) -> &str {
        &self.id
    }

    fn others(&self) -> Vec<&Map<String, Value>> {
        let facets = self.facets.as_ref().map(|facets: &Facets| &facets.other);
        facets.into_iter().chain([&self.other]).collect()
    }

    fn value(&self) -> Option<&Value> {
        self.version.as_ref()
    }
}

impl Entry for Kit {
    fn id(&self) -> &str {
        &self.id
    }

    fn others(&self) -> Vec<&Map<String, Value>> {
        vec![&self.other]
    }
}

impl Entry for Persona {
    fn id(&self) -> &str {
        &self.id
    }

    fn others(&self) -> Vec<&Map<String, Value>> {
        vec![&self.other]
    }
}

/// The JSON under which it is kept, or what is wrong with it.
pub(super) fn body_of(entry: &impl Entry) -> Result<String, String> {
    check_id(entry.id())?;
    let nested = entry
        .others()
        .into_iter()
        .flat_map(Map::values)
        .chain(entry.value());
    if nested.map(nesting).max() > Some(NESTING_MAX) {
        return Err(format!("it nests deeper than {NESTING_MAX} levels"));
    }
    let body = serde_json::to_string(entry).map_err(|error| error.to_string())?;
    if body.len() > SYMBOL_BYTES_MAX {
        return Err(format!(
            "it has {} bytes, the limit is {SYMBOL_BYTES_MAX}",
            body.len()
        ));
    }
    Ok(body)
}

/// Ids stand in prompts and in lists: one that cannot be seen or told apart is none.
pub(super) fn check_id(id: &str) -> Result<(), String> {
    if id.trim().is_empty() {
        Err("its id is empty".to_owned())
    } else if id.chars().count() > ID_CHARS_MAX {
        Err(format!("its id has more than {ID_CHARS_MAX} characters"))
    } else if id.chars().any(char::is_control) {
        Err("its id has a control character".to_owned())
    } else {
        Ok(())
    }
}

/// Grows with what is read, which the reader of JSON has bounded.
fn nesting(value: &Value) -> usize {
    match value {
        Value::Array(values) => 1 + values.iter().map(nesting).max().unwrap_or(0),
        Value::Object(fields) => 1 + fields.values().map(nesting).max().unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// The symbol with its new fields. Facets are merged, everything else is replaced, null takes a field away.
pub(super) fn merged(symbol: &Symbol, changes: &Map<String, Value>) -> Result<Symbol, String> {
    let Ok(Value::Object(mut fields)) = serde_json::to_value(symbol) else {
        return Err("it is no JSON object".to_owned());
    };
    for (name, new) in changes {
        match (name.as_str(), fields.get_mut(name), new) {
            ("id", Some(id), new) if id != new => {
                return Err("an id cannot be changed".to_owned());
            }
            ("facets", Some(Value::Object(old)), Value::Object(new)) => {
                new.iter().for_each(|(name, new)| set(old, name, new));
            }
            _ => set(&mut fields, name, new),
        }
    }
    serde_json::from_value(Value::Object(fields)).map_err(|error| error.to_string())
}

fn set(fields: &mut Map<String, Value>, name: &str, new: &Value) {
    if new.is_null() {
        // The others keep their order.
        fields.shift_remove(name);
    } else {
        fields.insert(name.to_owned(), new.clone());
    }
}
