//! The frame of every packet of a run. It comes from the charter and never from a program or a model.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::text::{Text, VisitTexts};

/// The provenance of a run's identity, as it was verified when the run began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdentityProvenance {
    /// Version of the protocol that the charter is written for.
    pub protocol: String,
    /// SHA-256 of the identity, in hexadecimal.
    pub identity: String,
    /// The signature, if somebody signed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<IdentitySignature>,
}

/// A signature of an identity, so that the record alone can be checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdentitySignature {
    pub key: String,
    /// The signature, in hexadecimal.
    pub value: String,
}

/// A run's identity, persona, task instructions and MTU.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PacketFrame {
    /// The charter's name and version, as `default 1.0.0`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub charter: String,
    /// SHA-256 of the charter's content, in hexadecimal.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub charter_digest: String,
    /// The folder that the charter was read from; a built-in one has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charter_folder: Option<String>,
    /// The provenance of the identity; a run without a charter has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<IdentityProvenance>,
    /// Values for the places in the charter's tools, as the address of a platform.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, String>,
    /// Most tokens of a packet; the model's window less the output cap when not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu_tokens: Option<u64>,
    /// The identity that speaks.
    #[serde(default)]
    pub identity: Text,
    /// The manner in which it speaks.
    #[serde(default)]
    pub persona: Text,
    /// Task instructions by their key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub instructions: BTreeMap<String, Text>,
}

impl VisitTexts for PacketFrame {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        f(&mut self.identity);
        f(&mut self.persona);
        for instruction in self.instructions.values_mut() {
            f(instruction);
        }
    }
}
