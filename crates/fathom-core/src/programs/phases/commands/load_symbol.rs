//! `load_symbol`: brings symbols into the context by their ids.

use serde_json::{Value, json};

use super::arguments::{Arguments, BadArguments, IDS};
use super::{Action, Work, ids_schema};
use crate::symbols::SymbolRequest;

pub(super) const ACTION: Action = Action {
    name: "load_symbol",
    properties,
    read,
};

fn properties() -> Value {
    json!({ "ids": ids_schema() })
}

fn read(arguments: &Arguments<'_>) -> Result<Vec<Work>, BadArguments> {
    let ids = arguments.must_have_ids(&IDS)?;
    Ok(vec![Work::Symbols(SymbolRequest::Get { ids })])
}
