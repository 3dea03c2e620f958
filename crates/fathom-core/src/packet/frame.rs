//! What every packet of a run is framed with. It comes from the charter and never from a program or a model.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::text::{Text, Texts};

/// A run's identity, persona, task instructions and MTU.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// The charter's name and version, as `default 1.0.0`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub charter: String,
    /// SHA-256 of the charter's content, in hexadecimal.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub charter_digest: String,
    /// The folder that the charter was read from; a built-in one has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charter_folder: Option<String>,
    /// Values for the places in the charter's tools, as the address of a platform.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, String>,
    /// Most tokens of a packet; the model's window less the output cap when not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu_tokens: Option<u64>,
    /// Who speaks.
    #[serde(default)]
    pub identity: Text,
    /// In which manner.
    #[serde(default)]
    pub persona: Text,
    /// Task instructions by their key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub instructions: BTreeMap<String, Text>,
}

impl Texts for Frame {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        f(&mut self.identity);
        f(&mut self.persona);
        for instruction in self.instructions.values_mut() {
            f(instruction);
        }
    }
}
