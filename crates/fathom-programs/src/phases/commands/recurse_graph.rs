//! `recurse_graph`: brings the symbols into the context that others lead to, over several links.

use serde_json::{Value, json};

use super::arguments::{BadArguments, CommandArguments};
use super::{CommandSpec, CommandWork, ids_schema};
use fathom_core::domain::symbols::SymbolRequest;

pub(super) const ACTION: CommandSpec = CommandSpec {
    name: "recurse_graph",
    properties,
    read,
};

/// Over how many links, where the command does not say.
const DEPTH: u8 = 2;

/// Most links that are followed.
const DEPTH_MAX: u8 = 4;

/// Symbols loaded if the command gives no number.
const LIMIT: u8 = 16;

/// Most symbols that are brought.
const LIMIT_MAX: u8 = 32;

const NAMES: [&str; 12] = [
    "ids",
    "id",
    "symbol_ids",
    "symbol_id",
    "symbols",
    "symbol",
    "start",
    "from",
    "root",
    "roots",
    "node",
    "start_id",
];

fn properties() -> Value {
    json!({
        "ids": ids_schema(),
        "depth": { "type": "integer", "minimum": 1, "maximum": DEPTH_MAX },
    })
}

fn read(arguments: &CommandArguments<'_>) -> Result<Vec<CommandWork>, BadArguments> {
    let ids = arguments.must_have_ids(&NAMES)?;
    let depth = arguments.number(&["depth", "max_depth", "hops", "levels"], DEPTH, DEPTH_MAX)?;
    let limit = arguments.number(&["limit", "count", "max"], LIMIT, LIMIT_MAX)?;
    Ok(vec![CommandWork::Symbols(SymbolRequest::Links {
        ids,
        depth,
        limit: limit.into(),
    })])
}
