//! `load_kit`: brings a kit's symbols into the context.

use serde_json::{Value, json};

use super::arguments::{BadArguments, CommandArguments};
use super::{CommandSpec, CommandWork, id_schema};
use fathom_core::domain::symbols::SymbolRequest;

pub(super) const ACTION: CommandSpec = CommandSpec {
    name: "load_kit",
    properties,
    read,
};

fn properties() -> Value {
    json!({ "kit": id_schema() })
}

fn read(arguments: &CommandArguments<'_>) -> Result<Vec<CommandWork>, BadArguments> {
    let ids = arguments.must_have_ids(&["kit", "kit_id", "id", "ids", "kits", "name"])?;
    let kit = |id| CommandWork::Symbols(SymbolRequest::Kit { id });
    Ok(ids.into_iter().map(kit).collect())
}
