//! Keys, in a type that cannot be printed by accident.

use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use zeroize::Zeroizing;

/// Replacement for a key in texts.
const HIDDEN: &str = "[hidden]";

/// A key. It is shown as `[hidden]` in every form of output, and its memory is cleared when it is dropped.
#[derive(Clone)]
pub struct ApiKey(Arc<Zeroizing<String>>);

impl ApiKey {
    /// A key without the white space around it, such as the last line feed of a file.
    pub fn new(key: impl Into<String>) -> Self {
        let key = Zeroizing::new(key.into());
        Self(Arc::new(Zeroizing::new(key.trim().to_owned())))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The key itself, for the one header that carries it.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// `text` without the key: a provider may repeat it in an error.
    pub(crate) fn redact(&self, text: &str) -> String {
        // Replacing an empty text would put the mask between all characters.
        if self.is_empty() {
            text.to_owned()
        } else {
            text.replace(self.reveal(), HIDDEN)
        }
    }
}

impl From<String> for ApiKey {
    fn from(key: String) -> Self {
        Self::new(key)
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

impl fmt::Display for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

impl Serialize for ApiKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(HIDDEN)
    }
}
