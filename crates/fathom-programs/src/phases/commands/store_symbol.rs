//! `store_symbol`: keeps a symbol; one with the same id gets a new version.

use serde_json::{Map, Value, json};

use super::arguments::{BadArguments, CommandArguments};
use super::{CommandSpec, CommandWork, id_schema, words_schema};
use fathom_core::domain::symbols::SymbolRequest;

pub(super) const ACTION: CommandSpec = CommandSpec {
    name: "store_symbol",
    properties,
    read,
};

/// The names under which a whole symbol comes.
const WHOLE: [&str; 4] = ["symbol", "data", "definition", "fields"];

fn properties() -> Value {
    let links = json!({ "type": "array", "items": id_schema(), "maxItems": 4 });
    json!({
        "id": id_schema(),
        "name": words_schema(),
        "macro": words_schema(),
        "linked_patterns": links,
    })
}

/// The symbol stands by itself, or its fields stand beside the action.
fn read(arguments: &CommandArguments<'_>) -> Result<Vec<CommandWork>, BadArguments> {
    let mut fields: Map<String, Value> = match arguments.get(&WHOLE) {
        Some(Value::Object(symbol)) => symbol.clone(),
        _ => arguments.rest(&["symbol_id"]),
    };
    if !fields.contains_key("id")
        && let Some(id) = arguments.words(&["symbol_id", "id"])?
    {
        fields.insert("id".to_owned(), Value::String(id));
    }
    if !fields.contains_key("id") {
        return Err(BadArguments::Missing("id"));
    }
    let symbol = serde_json::from_value(Value::Object(fields))
        .map_err(|error| BadArguments::Symbol(error.to_string()))?;
    Ok(vec![CommandWork::Symbols(SymbolRequest::Put { symbol })])
}
