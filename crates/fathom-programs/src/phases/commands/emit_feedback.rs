//! `emit_feedback`: records words against the run.

use serde_json::{Value, json};

use super::arguments::{BadArguments, CommandArguments};
use super::{CommandSpec, CommandWork, words_schema};

pub(super) const ACTION: CommandSpec = CommandSpec {
    name: "emit_feedback",
    properties,
    read,
};

fn properties() -> Value {
    json!({ "text": words_schema() })
}

/// Words alone are recorded as they are; where more was written, all of it is, as JSON.
fn read(arguments: &CommandArguments<'_>) -> Result<Vec<CommandWork>, BadArguments> {
    let names = ["text", "feedback", "message", "note", "content", "comment"];
    let all = arguments.rest(&[]);
    let mut members = all.iter();
    let feedback = match (members.next(), members.next()) {
        (None, _) => return Err(BadArguments::Missing("text")),
        (Some((name, Value::String(_))), None) if names.contains(&name.as_str()) => {
            arguments.must_say(&names)?
        }
        _ => Value::Object(all).to_string(),
    };
    Ok(vec![CommandWork::Feedback(feedback)])
}
