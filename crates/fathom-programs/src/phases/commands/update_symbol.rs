//! `update_symbol`: changes fields of a symbol.

use serde_json::{Map, Value, json};

use super::arguments::{BadArguments, CommandArguments};
use super::{CommandSpec, CommandWork, id_schema, words_schema};
use fathom_core::domain::symbols::SymbolRequest;

pub(super) const ACTION: CommandSpec = CommandSpec {
    name: "update_symbol",
    properties,
    read,
};

/// The names under which the changes come.
const CHANGES: [&str; 6] = ["updates", "changes", "fields", "patch", "data", "symbol"];

fn properties() -> Value {
    let changes = Map::from_iter([("macro".to_owned(), words_schema())]);
    json!({ "id": id_schema(), "changes": super::object(&changes) })
}

/// The changes stand by themselves, or beside the action. A field that is null goes.
fn read(arguments: &CommandArguments<'_>) -> Result<Vec<CommandWork>, BadArguments> {
    let mut changes = match arguments.get(&CHANGES) {
        Some(Value::Object(changes)) => changes.clone(),
        _ => arguments.rest(&["id", "symbol_id", "ids"]),
    };
    let inner = match changes.shift_remove("id") {
        Some(Value::String(id)) => Some(id.trim().to_owned()),
        _ => None,
    };
    let outer = match arguments.get(&["id", "symbol_id", "ids"]) {
        Some(Value::Array(ids)) if ids.len() == 1 => ids[0].as_str().map(str::to_owned),
        _ => arguments.words(&["id", "symbol_id"])?,
    };
    let id = match (outer, inner) {
        (Some(outer), Some(inner)) if outer != inner => return Err(BadArguments::NewId),
        (Some(id), _) | (None, Some(id)) => id,
        (None, None) => return Err(BadArguments::Missing("id")),
    };
    if changes.is_empty() {
        return Err(BadArguments::Missing("changes"));
    }
    Ok(vec![CommandWork::Symbols(SymbolRequest::Update {
        id,
        changes,
    })])
}
