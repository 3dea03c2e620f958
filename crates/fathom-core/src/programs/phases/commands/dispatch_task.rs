//! `dispatch_task`: has a child episode do a piece of work.

use serde_json::{Value, json};

use super::arguments::{Arguments, BadArguments};
use super::{Action, Work, words_schema};

pub(super) const ACTION: Action = Action {
    name: "dispatch_task",
    properties,
    read,
};

fn properties() -> Value {
    json!({ "task": words_schema() })
}

/// The child sees nothing but this: what it is to do, and what it is told beside it.
fn read(arguments: &Arguments<'_>) -> Result<Vec<Work>, BadArguments> {
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
    Ok(vec![Work::Task(goal)])
}
