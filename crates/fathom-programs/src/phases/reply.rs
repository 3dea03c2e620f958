//! Reading a reply: its payload, its commands and its words.

use serde_json::{Map, Value};

use crate::reply::{JsonCandidate, JsonObject, after_thoughts, pieces, without_fence_lines};
use fathom_core::episode::result::clip;

/// Marks of a command, before an object or as its name.
pub const MARK: &str = "⟐CMD";

/// The members of a payload that may hold what a phase has to say, the usual one first.
const REPLY_NAMES: [&str; 8] = [
    "reply",
    "answer",
    "output",
    "response",
    "narrative",
    "message",
    "text",
    "thought",
];

/// Deepest place inside of a payload at which a marked object is looked for.
const NESTED_MAX: u8 = 8;

/// Characters of a command that cannot be read which are told.
const EXCERPT_CHARS: usize = 80;

/// A command as it was stated.
#[derive(Clone, Debug, PartialEq)]
pub enum CommandText {
    /// An object.
    Command(Map<String, Value>),
    /// Something that cannot be read, in part.
    Malformed(String),
}

/// A reply, taken apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PhaseReply {
    /// The first object that is no command.
    pub payload: Option<Map<String, Value>>,
    /// The commands in the order in which they were stated, in all three forms.
    pub stated: Vec<CommandText>,
    /// The phase's statement: a member of the payload, or the words around it.
    pub words: String,
    /// True if an object has no end.
    pub is_cut: bool,
}

/// Takes a reply apart.
pub fn read(reply: &str) -> PhaseReply {
    let mut reading = PhaseReply::default();
    let outside = reading.take_in(after_thoughts(reply), Nesting::Reply);
    if let Some(words) = reading.payload.as_ref().and_then(words_of) {
        // A model may write commands into its words; there they are commands too, and nothing to show.
        let words = words.to_owned();
        reading.words = reading.take_in(&words, Nesting::Words);
    } else {
        reading.words = without_fence_lines(&outside);
    }
    reading
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Nesting {
    Reply,
    Words,
}

impl PhaseReply {
    /// Takes in the objects of a text and gives what is left of it.
    fn take_in(&mut self, text: &str, within: Nesting) -> String {
        let mut left = String::new();
        let mut done = 0;
        for piece in pieces(text) {
            let (JsonCandidate::Object(JsonObject { from, .. })
            | JsonCandidate::Broken(from)
            | JsonCandidate::Cut(from)) = piece;
            let before = text.get(done..from).unwrap_or_default();
            let unmarked = strip_mark(before);
            let is_marked = unmarked.is_some();
            match piece {
                JsonCandidate::Object(object) if within == Nesting::Reply || is_marked => {
                    left.push_str(unmarked.unwrap_or(before));
                    done = object.to;
                    self.take_object(object.into_members(), is_marked);
                }
                JsonCandidate::Object(_) => {}
                JsonCandidate::Broken(_) | JsonCandidate::Cut(_) => {
                    let is_cut = matches!(piece, JsonCandidate::Cut(_));
                    self.is_cut |= is_cut && within == Nesting::Reply;
                    if is_marked {
                        left.push_str(unmarked.unwrap_or_default());
                        done = from;
                        let rest = text.get(from..).unwrap_or_default();
                        self.stated.push(malformed(rest));
                    }
                }
            }
        }
        left.push_str(text.get(done..).unwrap_or_default());
        left.trim().to_owned()
    }

    fn take_object(&mut self, mut members: Map<String, Value>, is_marked: bool) {
        if is_marked {
            self.stated.push(CommandText::Command(members));
        } else if members.len() == 1
            && let Some(command) = members.remove(MARK)
        {
            self.state(command);
        } else if self.payload.is_none() {
            self.take_payload(&members);
            self.payload = Some(members);
        } else {
            // Further objects say nothing but the commands they hold.
            for (name, value) in &members {
                self.look_into(name, value, NESTED_MAX);
            }
        }
    }

    fn take_payload(&mut self, payload: &Map<String, Value>) {
        for (name, value) in payload {
            if name == "control_signature" {
                match value.get("emit") {
                    Some(Value::Array(entries)) => {
                        for entry in entries {
                            self.emit(entry);
                        }
                    }
                    Some(Value::Null) | None => {}
                    Some(entry) => self.emit(entry),
                }
            } else {
                self.look_into(name, value, NESTED_MAX);
            }
        }
    }

    /// Takes in an entry of `control_signature.emit`.
    fn emit(&mut self, entry: &Value) {
        let command = entry.get(MARK).unwrap_or(entry);
        self.state(command.clone());
    }

    /// Looks for marked objects.
    fn look_into(&mut self, name: &str, value: &Value, levels: u8) {
        if name == MARK {
            return self.state(value.clone());
        }
        let Some(levels) = levels.checked_sub(1) else {
            return;
        };
        match value {
            Value::Object(members) => {
                for (name, value) in members {
                    self.look_into(name, value, levels);
                }
            }
            Value::Array(entries) => {
                for entry in entries {
                    self.look_into("", entry, levels);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn state(&mut self, command: Value) {
        match command {
            Value::Object(members) => self.stated.push(CommandText::Command(members)),
            Value::Array(several) => {
                for command in several {
                    self.stated.push(match command {
                        Value::Object(members) => CommandText::Command(members),
                        other => malformed(&other.to_string()),
                    });
                }
            }
            other => self.stated.push(malformed(&other.to_string())),
        }
    }
}

/// Something that cannot be read. Only its beginning is looked at, however often a text is full of such.
fn malformed(text: &str) -> CommandText {
    let head: String = text.chars().take(EXCERPT_CHARS + 1).collect();
    CommandText::Malformed(clip(&head, EXCERPT_CHARS))
}

/// The text before a command's mark, if only the mark stands between it and an object.
fn strip_mark(before: &str) -> Option<&str> {
    let is_filling = |c: char| c.is_whitespace() || matches!(c, ':' | '`');
    let end = before.trim_end_matches(is_filling);
    let end = end
        .strip_suffix("json")
        .map_or(end, |fenced| fenced.trim_end_matches(is_filling));
    end.strip_suffix(MARK)
}

/// The phase's statement.
fn words_of(payload: &Map<String, Value>) -> Option<&str> {
    REPLY_NAMES
        .iter()
        .filter_map(|name| payload.get(*name)?.as_str())
        .find(|words| !words.trim().is_empty())
}

#[cfg(test)]
#[path = "reply_tests.rs"]
mod tests;
