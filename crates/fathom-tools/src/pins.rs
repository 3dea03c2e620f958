//! Pins: what a tool said of itself when it was first seen.

use std::collections::BTreeMap;

use fathom_core::id::Digest;
use fathom_core::tool::canonical;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// SHA-256 over name, description, schema and annotations, in one canonical form.
pub fn pin(name: &str, description: &str, schema: &Value, annotations: &Value) -> Digest {
    let all = json!([name, description, schema, annotations]);
    Digest(Sha256::digest(canonical(&all)).into())
}

/// How a tool compares with what is known of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It was never seen before.
    New,
    /// It is what it was.
    Same,
    /// It changed. Nobody calls it until a person accepts it.
    Quarantined {
        /// What was accepted.
        pinned: Digest,
        /// What it is now.
        found: Digest,
    },
}

/// The pins of a charter's tools, by name. The host keeps them; only people change one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pins(BTreeMap<String, Digest>);

impl Pins {
    /// What is pinned under `name`.
    pub fn get(&self, name: &str) -> Option<Digest> {
        self.0.get(name).copied()
    }

    /// Compares a tool with its pin.
    pub fn compare(&self, name: &str, found: Digest) -> Standing {
        match self.get(name) {
            None => Standing::New,
            Some(pinned) if pinned == found => Standing::Same,
            Some(pinned) => Standing::Quarantined { pinned, found },
        }
    }

    /// Compares a tool with its pin, and pins it where there is none.
    pub fn meet(&mut self, name: &str, found: Digest) -> Standing {
        let standing = self.compare(name, found);
        if standing == Standing::New {
            self.accept(name, found);
        }
        standing
    }

    /// A person accepts the tool as it is under this digest, and as nothing else.
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
