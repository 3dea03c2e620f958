//! JSON objects amid other text.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

/// The members of an object that say something about a vote. A name may come more than once.
#[derive(Debug, Default)]
pub(super) struct Members {
    pub(super) vote: Vec<Value>,
    pub(super) confidence: Vec<Value>,
    pub(super) reasoning: Vec<Value>,
    pub(super) source: Vec<Value>,
}

impl Members {
    fn of(&mut self, name: &str) -> Option<&mut Vec<Value>> {
        match name.to_ascii_lowercase().as_str() {
            "vote" => Some(&mut self.vote),
            "confidence" => Some(&mut self.confidence),
            "reasoning" => Some(&mut self.reasoning),
            "source" => Some(&mut self.source),
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;

        impl<'de> Visitor<'de> for Collect {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Members::default();
                while let Some(name) = map.next_key::<String>()? {
                    // Depth is no danger: a value is refused below 128 levels, and what is ignored takes no stack.
                    match members.of(&name) {
                        Some(values) => values.push(map.next_value()?),
                        None => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(Collect)
    }
}

/// What begins with a brace.
pub(super) enum Found {
    /// An object.
    Object {
        members: Members,
        /// Its length.
        len: usize,
    },
    /// Something else, as far as this place, which is past the brace.
    Broken { len: usize },
    /// The beginning of an object whose end is not there.
    Cut,
}

/// Reads the object at the beginning of a text. Work is in proportion to what is stepped over, so that going through a text
/// from find to find is linear.
pub(super) fn at_start(text: &str) -> Found {
    let mut objects = serde_json::Deserializer::from_str(text).into_iter::<Members>();
    match objects.next() {
        Some(Ok(members)) => Found::Object {
            members,
            len: objects.byte_offset(),
        },
        Some(Err(error)) if !error.is_eof() => Found::Broken {
            len: place(text, error.line(), error.column()),
        },
        Some(Err(_)) | None => Found::Cut,
    }
}

/// The offset of a place that is given by line and column, at least past the first character.
fn place(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text
        .split_inclusive('\n')
        .take(line.saturating_sub(1))
        .map(str::len)
        .sum();
    // The column is that of the byte at fault or of the one before it.
    text.floor_char_boundary(before + column.saturating_sub(1))
        .max(1)
}
