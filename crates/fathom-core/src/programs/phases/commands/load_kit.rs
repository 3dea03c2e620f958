//! `load_kit`: brings a kit's symbols into the context.

use serde_json::{Value, json};

use super::arguments::{Arguments, BadArguments};
use super::{Action, Work, id_schema};
use crate::symbols::SymbolRequest;

pub(super) const ACTION: Action = Action {
    name: "load_kit",
    properties,
    read,
};

fn properties() -> Value {
    json!({ "kit": id_schema() })
}

fn read(arguments: &Arguments<'_>) -> Result<Vec<Work>, BadArguments> {
    let ids = arguments.must_have_ids(&["kit", "kit_id", "id", "ids", "kits", "name"])?;
    let kit = |id| Work::Symbols(SymbolRequest::Kit { id });
    Ok(ids.into_iter().map(kit).collect())
}
