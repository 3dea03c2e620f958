//! `delete_symbol`: takes symbols away.

use serde_json::{Value, json};

use super::arguments::{Arguments, BadArguments, IDS};
use super::{Action, Work, id_schema};
use crate::symbols::SymbolRequest;

pub(super) const ACTION: Action = Action {
    name: "delete_symbol",
    properties,
    read,
};

fn properties() -> Value {
    json!({ "id": id_schema() })
}

fn read(arguments: &Arguments<'_>) -> Result<Vec<Work>, BadArguments> {
    let ids = arguments.must_have_ids(&IDS)?;
    let delete = |id| Work::Symbols(SymbolRequest::Delete { id });
    Ok(ids.into_iter().map(delete).collect())
}
