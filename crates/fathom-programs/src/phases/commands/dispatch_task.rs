//! `dispatch_task`: has a child episode do a piece of work.

use serde_json::{Value, json};

use super::arguments::{BadArguments, CommandArguments};
use super::{CommandSpec, CommandWork, words_schema};

pub(super) const ACTION: CommandSpec = CommandSpec {
    name: "dispatch_task",
    properties,
    read,
};

fn properties() -> Value {
    json!({ "task": words_schema() })
}

/// The child sees nothing but this: what it is to do, and what it is told beside it.
fn read(arguments: &CommandArguments<'_>) -> Result<Vec<CommandWork>, BadArguments> {
    let names = [
        "task",
        "goal",
        "prompt",
        "description",
        "instructions",
        "text",
        "query",
    ];
    let mut goal = arguments.must_say(&names)?;
    if let Some(context) = arguments.words(&["context", "input", "material"])? {
        goal = format!("{goal}\n\n{context}");
    }
    Ok(vec![CommandWork::Task(goal)])
}
