//! The members of a JSON object that say something about a vote.

use serde_json::Value;

use super::json_objects::JsonObject;

/// Members of an object that concern a vote. A name may occur repeatedly, in any case.
#[derive(Debug, Default)]
pub(crate) struct VoteFields {
    pub(crate) vote: Vec<Value>,
    pub(crate) confidence: Vec<Value>,
    pub(crate) reasoning: Vec<Value>,
    pub(crate) source: Vec<Value>,
}

impl VoteFields {
    fn named(&mut self, name: &str) -> Option<&mut Vec<Value>> {
        match name.to_ascii_lowercase().as_str() {
            "vote" => Some(&mut self.vote),
            "confidence" => Some(&mut self.confidence),
            "reasoning" => Some(&mut self.reasoning),
            "source" => Some(&mut self.source),
            _ => None,
        }
    }
}

impl From<JsonObject> for VoteFields {
    fn from(object: JsonObject) -> Self {
        let mut members = Self::default();
        for (name, value) in object.entries {
            if let Some(values) = members.named(&name) {
                values.push(value);
            }
        }
        members
    }
}
