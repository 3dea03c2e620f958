//! Rules for symbols, kits and personas, and the merging of changes.

use fathom_core::domain::symbols::{AgentProfile, Kit, Symbol, SymbolFacets};
use serde::Serialize;
use serde_json::{Map, Value};

use super::store::{IDS_MAX, TEXT_BYTES_MAX};

/// Longest id, in characters.
pub const ID_CHARS_MAX: usize = 200;

/// Largest symbol, kit or persona, in bytes of JSON.
pub const SYMBOL_BYTES_MAX: usize = 256 << 10;

/// Deepest nesting of unknown fields of an entry. Readers of JSON give up at 128.
const NESTING_MAX: usize = 64;

/// A mistake in a symbol, kit, persona or request. Its text is told to the asker, who may be a model.
#[derive(Debug, thiserror::Error)]
pub(super) enum SymbolFlaw {
    #[error("it names more than {IDS_MAX} ids")]
    TooManyIds,
    #[error("there is nothing to search for")]
    NothingToSearch,
    #[error("the text to search for has {0} bytes, the limit is {TEXT_BYTES_MAX}")]
    TextTooLong(usize),
    #[error("it changes nothing")]
    ChangesNothing,
    #[error("`{id}` stands at {first} already")]
    Repeated { id: String, first: usize },
    #[error("it nests deeper than {NESTING_MAX} levels")]
    TooDeep,
    #[error("it has {0} bytes, the limit is {SYMBOL_BYTES_MAX}")]
    TooLarge(usize),
    #[error("its id is empty")]
    EmptyId,
    #[error("its id has more than {ID_CHARS_MAX} characters")]
    LongId,
    #[error("its id has a control character")]
    ControlInId,
    #[error("it is no JSON object")]
    NotAnObject,
    #[error("an id cannot be changed")]
    IdChanged,
    #[error(transparent)]
    Malformed(#[from] serde_json::Error),
}

/// Something with an id, as it is stored.
pub(super) trait EditEntry: Serialize {
    fn id(&self) -> &str;

    /// Everything in it that may nest.
    fn others(&self) -> Vec<&Map<String, Value>>;

    /// A value outside of those.
    fn value(&self) -> Option<&Value> {
        None
    }
}

impl EditEntry for Symbol {
    fn id(&self) -> &str {
        &self.id
    }

    fn others(&self) -> Vec<&Map<String, Value>> {
        let facets = self
            .facets
            .as_ref()
            .map(|facets: &SymbolFacets| &facets.other);
        facets.into_iter().chain([&self.other]).collect()
    }

    fn value(&self) -> Option<&Value> {
        self.version.as_ref()
    }
}

impl EditEntry for Kit {
    fn id(&self) -> &str {
        &self.id
    }

    fn others(&self) -> Vec<&Map<String, Value>> {
        vec![&self.other]
    }
}

impl EditEntry for AgentProfile {
    fn id(&self) -> &str {
        &self.id
    }

    fn others(&self) -> Vec<&Map<String, Value>> {
        vec![&self.other]
    }
}

/// The JSON that is stored, or the entry's flaw.
pub(super) fn body_of(entry: &impl EditEntry) -> Result<String, SymbolFlaw> {
    check_id(entry.id())?;
    let nested = entry
        .others()
        .into_iter()
        .flat_map(Map::values)
        .chain(entry.value());
    if nested.map(nesting).max() > Some(NESTING_MAX) {
        return Err(SymbolFlaw::TooDeep);
    }
    let body = serde_json::to_string(entry)?;
    if body.len() > SYMBOL_BYTES_MAX {
        return Err(SymbolFlaw::TooLarge(body.len()));
    }
    Ok(body)
}

/// Checks an id. Ids appear in prompts and in lists, so one that cannot be seen or told apart is refused.
pub(super) fn check_id(id: &str) -> Result<(), SymbolFlaw> {
    if id.trim().is_empty() {
        Err(SymbolFlaw::EmptyId)
    } else if id.chars().count() > ID_CHARS_MAX {
        Err(SymbolFlaw::LongId)
    } else if id.chars().any(char::is_control) {
        Err(SymbolFlaw::ControlInId)
    } else {
        Ok(())
    }
}

/// Recursive: the reader of JSON has bounded the depth.
fn nesting(value: &Value) -> usize {
    match value {
        Value::Array(values) => 1 + values.iter().map(nesting).max().unwrap_or(0),
        Value::Object(fields) => 1 + fields.values().map(nesting).max().unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// The symbol with the changed fields. Facets are merged, everything else is replaced, null removes a field.
pub(super) fn merged(symbol: &Symbol, changes: &Map<String, Value>) -> Result<Symbol, SymbolFlaw> {
    let Ok(Value::Object(mut fields)) = serde_json::to_value(symbol) else {
        return Err(SymbolFlaw::NotAnObject);
    };
    for (name, new) in changes {
        match (name.as_str(), fields.get_mut(name), new) {
            ("id", Some(id), new) if id != new => {
                return Err(SymbolFlaw::IdChanged);
            }
            ("facets", Some(Value::Object(old)), Value::Object(new)) => {
                new.iter().for_each(|(name, new)| set(old, name, new));
            }
            _ => set(&mut fields, name, new),
        }
    }
    Ok(serde_json::from_value(Value::Object(fields))?)
}

fn set(fields: &mut Map<String, Value>, name: &str, new: &Value) {
    if new.is_null() {
        // `remove` would swap the last field into the gap.
        fields.shift_remove(name);
    } else {
        fields.insert(name.to_owned(), new.clone());
    }
}
