//! `invoke_agent`: brings an agent into the context, with the symbols it carries.

use serde_json::{Value, json};

use super::arguments::{BadArguments, CommandArguments};
use super::{CommandSpec, CommandWork, id_schema};
use fathom_core::domain::symbols::SymbolRequest;

pub(super) const ACTION: CommandSpec = CommandSpec {
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

fn read(arguments: &CommandArguments<'_>) -> Result<Vec<CommandWork>, BadArguments> {
    let ids = arguments.must_have_ids(&NAMES)?;
    let persona = |id| CommandWork::Symbols(SymbolRequest::Persona { id });
    Ok(ids.into_iter().map(persona).collect())
}
