//! `delete_symbol`: takes symbols away.

use serde_json::{Value, json};

use super::arguments::{BadArguments, CommandArguments, IDS};
use super::{CommandSpec, CommandWork, id_schema};
use fathom_core::domain::symbols::SymbolRequest;

pub(super) const ACTION: CommandSpec = CommandSpec {
    name: "delete_symbol",
    properties,
    read,
};

fn properties() -> Value {
    json!({ "id": id_schema() })
}

fn read(arguments: &CommandArguments<'_>) -> Result<Vec<CommandWork>, BadArguments> {
    let ids = arguments.must_have_ids(&IDS)?;
    let delete = |id| CommandWork::Symbols(SymbolRequest::Delete { id });
    Ok(ids.into_iter().map(delete).collect())
}
