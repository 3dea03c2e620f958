//! Pins: a tool's description of itself when it was first seen.

use std::collections::BTreeMap;

use fathom_core::id::Digest;
use fathom_core::model::tool_call::canonical;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// SHA-256 over name, description, schema and annotations, in one canonical form.
pub fn pin(name: &str, description: &str, schema: &Value, annotations: &Value) -> Digest {
    let all = json!([name, description, schema, annotations]);
    Digest(Sha256::digest(canonical(&all)).into())
}

/// Result of comparing a tool with its pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolStanding {
    /// Not seen before.
    New,
    /// Unchanged.
    Same,
    /// Changed, and not called until a person accepts it.
    Quarantined {
        /// The accepted digest.
        pinned: Digest,
        /// The present digest.
        found: Digest,
    },
}

/// The pins of a charter's tools, by name. The host stores them; only people change one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ToolPins(BTreeMap<String, Digest>);

impl ToolPins {
    /// The pinned digest of `name`.
    pub fn get(&self, name: &str) -> Option<Digest> {
        self.0.get(name).copied()
    }

    /// Compares a tool with its pin.
    pub fn compare(&self, name: &str, found: Digest) -> ToolStanding {
        match self.get(name) {
            None => ToolStanding::New,
            Some(pinned) if pinned == found => ToolStanding::Same,
            Some(pinned) => ToolStanding::Quarantined { pinned, found },
        }
    }

    /// Compares a tool with its pin, and pins it if there is none.
    pub fn meet(&mut self, name: &str, found: Digest) -> ToolStanding {
        let standing = self.compare(name, found);
        if standing == ToolStanding::New {
            self.accept(name, found);
        }
        standing
    }

    /// Pins the digest that a person accepted.
    pub fn accept(&mut self, name: &str, found: Digest) {
        self.0.insert(name.to_owned(), found);
    }

    /// Every pin.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Digest)> {
        self.0.iter().map(|(name, digest)| (name.as_str(), *digest))
    }
}

#[cfg(test)]
#[path = "pins_tests.rs"]
mod tests;
