//! `invoke_agent`: brings an agent into the context, with the symbols it carries.

use serde_json::{Value, json};

use super::arguments::{Arguments, BadArguments};
use super::{Action, Work, id_schema};
use crate::symbols::SymbolRequest;

pub(super) const ACTION: Action = Action {
    name: "invoke_agent",
    properties,
    read,
};

const NAMES: [&str; 9] = [
    "agent",
    "agent_id",
    "persona",
    "persona_id",
    "id",
    "ids",
    "agents",
    "agent_ids",
    "name",
];

fn properties() -> Value {
    json!({ "agent": id_schema() })
}

fn read(arguments: &Arguments<'_>) -> Result<Vec<Work>, BadArguments> {
    let ids = arguments.must_have_ids(&NAMES)?;
    let persona = |id| Work::Symbols(SymbolRequest::Persona { id });
    Ok(ids.into_iter().map(persona).collect())
}
