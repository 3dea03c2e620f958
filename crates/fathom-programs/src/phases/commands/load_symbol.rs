//! `load_symbol`: brings symbols into the context by their ids.

use serde_json::{Value, json};

use super::arguments::{BadArguments, CommandArguments, IDS};
use super::{CommandSpec, CommandWork, ids_schema};
use fathom_core::domain::symbols::SymbolRequest;

pub(super) const ACTION: CommandSpec = CommandSpec {
    name: "load_symbol",
    properties,
    read,
};

fn properties() -> Value {
    json!({ "ids": ids_schema() })
}

fn read(arguments: &CommandArguments<'_>) -> Result<Vec<CommandWork>, BadArguments> {
    let ids = arguments.must_have_ids(&IDS)?;
    Ok(vec![CommandWork::Symbols(SymbolRequest::Get { ids })])
}
