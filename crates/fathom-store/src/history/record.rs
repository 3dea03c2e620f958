//! Contents of a history.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fathom_core::domain::session::SessionSpeaker;
use fathom_core::id::RunId;
use fathom_core::unit::Timestamp;
use serde::{Deserialize, Serialize};

use crate::journal::seal::TAG_BYTES;

/// An entry of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistoryEntry {
    /// Speaker.
    pub who: SessionSpeaker,
    pub text: String,
    pub at_ms: Timestamp,
    pub run: RunId,
}

/// Authentication tag of a record.
#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct AuthTag(pub(super) [u8; TAG_BYTES]);

impl fmt::Display for AuthTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&STANDARD.encode(self.0))
    }
}

impl fmt::Debug for AuthTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<AuthTag> for String {
    fn from(tag: AuthTag) -> Self {
        tag.to_string()
    }
}

impl TryFrom<String> for AuthTag {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        let bytes = STANDARD.decode(text).ok();
        let tag = bytes.and_then(|bytes| bytes.try_into().ok());
        tag.map(Self).ok_or("not a tag of a history")
    }
}

/// The end of a history, kept in the journal: comparing it shows if the end was cut off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistoryHead {
    /// Number of records.
    pub sequence: u64,
    /// Tag of the last record; zeros if there is none.
    pub tag: AuthTag,
}

/// One line, opened.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum HistoryLine {
    /// Entries added at once.
    Batch {
        /// Key of the batch, so that it is added only once.
        key: String,
        entries: Vec<HistoryEntry>,
    },
    /// All lines before this one were sealed again.
    Rotated {
        /// The head before the rotation.
        from: HistoryHead,
    },
}
