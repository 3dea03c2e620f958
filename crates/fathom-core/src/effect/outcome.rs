//! The outcome of an attempt at an effect, with what was seen meanwhile.

use serde::{Deserialize, Serialize};

use crate::id::Digest;
use crate::text::{Text, VisitTexts};

/// Something that was seen while an effect was carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The step at which it was seen.
    pub step: String,
    /// The media type, as `image/png` or `text/html`.
    pub media: String,
    /// SHA-256 of what was seen.
    pub digest: Digest,
    /// The content; base64 if it is not text.
    pub content: Text,
}

impl VisitTexts for Evidence {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        f(&mut self.content);
    }
}

/// Outcome of an attempt or a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EffectOutcome {
    /// It happened; the platform's receipt.
    Confirmed {
        /// The platform's answer.
        receipt: Text,
    },
    /// It did not happen.
    Failed { detail: Text },
    /// Nobody knows.
    Unknown { detail: Text },
}

impl VisitTexts for EffectOutcome {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        match self {
            Self::Confirmed { receipt } => f(receipt),
            Self::Failed { detail } | Self::Unknown { detail } => f(detail),
        }
    }
}
