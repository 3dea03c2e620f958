//! `emit_feedback`: records words against the run.

use serde_json::{Value, json};

use super::arguments::{Arguments, BadArguments};
use super::{Action, Work, words_schema};

pub(super) const ACTION: Action = Action {
    name: "emit_feedback",
    properties,
    read,
};

fn properties() -> Value {
    json!({ "text": words_schema() })
}

/// Words alone are recorded as they are; where more was written, all of it is, as JSON.
fn read(arguments: &Arguments<'_>) -> Result<Vec<Work>, BadArguments> {
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
    Ok(vec![Work::Feedback(feedback)])
}
