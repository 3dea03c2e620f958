//! The roles of a council.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::ModelRole;

/// A role of the council. Each has a model of the run ([`CouncilRole::model`]); the run's models have two more roles
/// that have no seat in a council.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CouncilRole {
    /// The strong one, which decides where the others do not.
    Prime,
    /// The quick one.
    Lite,
    /// The one for code.
    CodeMind,
}

impl CouncilRole {
    /// Every role.
    pub const ALL: [Self; 3] = [Self::Prime, Self::Lite, Self::CodeMind];

    /// The role as a file and a message name it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Prime => "prime",
            Self::Lite => "lite",
            Self::CodeMind => "codemind",
        }
    }

    /// The model that speaks in this role.
    pub const fn model(self) -> ModelRole {
        match self {
            Self::Prime => ModelRole::Prime,
            Self::Lite => ModelRole::Lite,
            Self::CodeMind => ModelRole::CodeMind,
        }
    }
}

impl fmt::Display for CouncilRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
