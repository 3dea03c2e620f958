//! JSON objects amid other text. What a model wrote is gone through once, from the front, in time that grows with its
//! length alone.
//!
//! An object is JSON with two liberties that models take: a comma may stand after the last entry of an object or a
//! list, and a string may hold line breaks and tabs as they are. Of names that come twice the last holds. Braces that begin no
//! object are stepped over; an object that does not end, or that is nested too deeply, hides everything after it, so
//! that no part of it is taken for the whole.

use serde::de::DeserializeOwned;
use serde::de::value::MapDeserializer;
use serde_json::{Map, Number, Value};

use super::error::ReplyError;
use super::think_tags::after_thoughts;

/// Deepest nesting of an object that is read.
pub const LEVELS_MAX: u8 = 64;

/// An object and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct JsonObject {
    /// Its names with their values, as they were written: a name may come more than once.
    pub(crate) entries: Vec<(String, Value)>,
    /// Its first byte.
    pub(crate) from: usize,
    /// The byte after its last.
    pub(crate) to: usize,
}

impl JsonObject {
    /// Its members; of those with the same name the last.
    pub(crate) fn into_members(self) -> Map<String, Value> {
        self.entries.into_iter().collect()
    }
}

/// A piece of text that opens with a brace.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum JsonCandidate {
    Object(JsonObject),
    /// Something else, with the place of its brace.
    Broken(usize),
    /// An object whose end is not there, or that is nested too deeply, with the place of its brace.
    Cut(usize),
}

/// The first JSON object that a reply says, fenced or bare, also amid prose.
pub fn first_object(reply: &str) -> Option<Map<String, Value>> {
    pieces(after_thoughts(reply)).find_map(|piece| match piece {
        JsonCandidate::Object(object) => Some(object.into_members()),
        JsonCandidate::Broken(_) | JsonCandidate::Cut(_) => None,
    })
}

/// The one JSON object that a reply says, as a form that is filled in. Two of them are none, for nobody knows which is
/// meant, and so is one beside something that has no end. A name that comes twice is for the form to judge.
pub(crate) fn form<T: DeserializeOwned>(reply: &str) -> Result<T, ReplyError> {
    let mut found = None;
    for piece in pieces(after_thoughts(reply)) {
        match piece {
            JsonCandidate::Object(object) if found.is_none() => found = Some(object),
            JsonCandidate::Object(_) => return Err(ReplyError::Several),
            JsonCandidate::Cut(_) => return Err(ReplyError::Cut),
            JsonCandidate::Broken(_) => {}
        }
    }
    let entries = found.ok_or(ReplyError::NoObject)?.entries;
    let form = T::deserialize(MapDeserializer::new(entries.into_iter()));
    form.map_err(|error: serde_json::Error| ReplyError::Form(error.to_string()))
}

/// All that begins with a brace and is not inside of another object, in order.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = JsonCandidate> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let from = at + text.get(at..)?.find('{')?;
        let mut reader = JsonReader { text, at: from };
        let mut entries = Vec::new();
        match reader.members(LEVELS_MAX, |name, value| entries.push((name, value))) {
            Ok(()) => {
                at = reader.at;
                let to = reader.at;
                Some(JsonCandidate::Object(JsonObject { entries, from, to }))
            }
            Err(JsonError::Broken) => {
                // What was read is not read again, so that a text full of braces takes no longer than another.
                at = reader.at.max(from + 1);
                Some(JsonCandidate::Broken(from))
            }
            Err(JsonError::Cut) => {
                at = text.len();
                Some(JsonCandidate::Cut(from))
            }
        }
    })
}

enum JsonError {
    /// This is no JSON.
    Broken,
    /// It ends before its end, or goes too deep.
    Cut,
}

struct JsonReader<'a> {
    text: &'a str,
    /// Always between two characters.
    at: usize,
}

impl JsonReader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The next byte that is no white space.
    fn next(&mut self) -> Result<u8, JsonError> {
        let bytes = self.text.as_bytes();
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(self.at) {
            self.at += 1;
        }
        bytes.get(self.at).copied().ok_or(JsonError::Cut)
    }

    fn object(&mut self, levels: u8) -> Result<Map<String, Value>, JsonError> {
        let mut members = Map::new();
        self.members(levels, |name, value| {
            members.insert(name, value);
        })?;
        Ok(members)
    }

    /// Goes through an object and hands over its members, one after the other.
    fn members(
        &mut self,
        levels: u8,
        mut take: impl FnMut(String, Value),
    ) -> Result<(), JsonError> {
        let levels = levels.checked_sub(1).ok_or(JsonError::Cut)?;
        self.at += 1;
        loop {
            match self.next()? {
                b'}' => break,
                b'"' => {}
                _ => return Err(JsonError::Broken),
            }
            let name = self.string()?;
            if self.next()? != b':' {
                return Err(JsonError::Broken);
            }
            self.at += 1;
            let value = self.value(levels)?;
            take(name, value);
            if !self.goes_on(b'}')? {
                break;
            }
        }
        self.at += 1;
        Ok(())
    }

    fn list(&mut self, levels: u8) -> Result<Vec<Value>, JsonError> {
        let levels = levels.checked_sub(1).ok_or(JsonError::Cut)?;
        let mut entries = Vec::new();
        self.at += 1;
        while self.next()? != b']' {
            entries.push(self.value(levels)?);
            if !self.goes_on(b']')? {
                break;
            }
        }
        self.at += 1;
        Ok(entries)
    }

    /// Steps over a comma; without one the end must come.
    fn goes_on(&mut self, end: u8) -> Result<bool, JsonError> {
        match self.next()? {
            b',' => {
                self.at += 1;
                Ok(true)
            }
            byte if byte == end => Ok(false),
            _ => Err(JsonError::Broken),
        }
    }

    fn value(&mut self, levels: u8) -> Result<Value, JsonError> {
        match self.next()? {
            b'{' => self.object(levels).map(Value::Object),
            b'[' => self.list(levels).map(Value::Array),
            b'"' => self.string().map(Value::String),
            b't' => self.word("true", Value::Bool(true)),
            b'f' => self.word("false", Value::Bool(false)),
            b'n' => self.word("null", Value::Null),
            b'-' | b'0'..=b'9' => self.number(),
            _ => Err(JsonError::Broken),
        }
    }

    fn word(&mut self, word: &str, value: Value) -> Result<Value, JsonError> {
        let rest = self.rest();
        if rest.starts_with(word) {
            self.at += word.len();
            Ok(value)
        } else if word.starts_with(rest) {
            Err(JsonError::Cut)
        } else {
            Err(JsonError::Broken)
        }
    }

    fn number(&mut self) -> Result<Value, JsonError> {
        let is_part = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
        let rest = self.rest();
        let end = rest.find(|c| !is_part(c)).ok_or(JsonError::Cut)?;
        let number = rest.get(..end).unwrap_or_default();
        let number: Number = serde_json::from_str(number).map_err(|_| JsonError::Broken)?;
        self.at += end;
        Ok(Value::Number(number))
    }

    fn string(&mut self) -> Result<String, JsonError> {
        let bytes = self.text.as_bytes();
        let from = self.at;
        self.at += 1;
        let mut has_controls = false;
        loop {
            match bytes.get(self.at) {
                None => return Err(JsonError::Cut),
                Some(b'"') => break,
                // An escaped character may have several bytes; none of the others is a quote or a backslash.
                Some(b'\\') => self.at += 2,
                Some(byte) => {
                    has_controls |= *byte < b' ';
                    self.at += 1;
                }
            }
        }
        self.at += 1;
        let quoted = self.text.get(from..self.at).ok_or(JsonError::Broken)?;
        let read = if has_controls {
            serde_json::from_str(&escaped(quoted))
        } else {
            serde_json::from_str(quoted)
        };
        read.map_err(|_| JsonError::Broken)
    }
}

/// A quoted string with its line breaks and tabs in the form that JSON wants; other control characters are left out.
fn escaped(quoted: &str) -> String {
    let mut escaped = String::with_capacity(quoted.len() + 16);
    for c in quoted.chars() {
        match c {
            '\n' => escaped.push_str("\\n"),
            '\t' => escaped.push_str("\\t"),
            c if c < ' ' => {}
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
#[path = "json_objects_tests.rs"]
mod tests;
