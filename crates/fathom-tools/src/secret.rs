//! Keys of platforms, which never get into a file or to a model.

use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

/// Replacement for a key in texts.
const HIDDEN: &str = "[hidden]";

/// A key. It is shown as `[hidden]`, and its memory is cleared when it is dropped.
#[derive(Clone)]
pub struct PlatformKey(Arc<Zeroizing<String>>);

impl PlatformKey {
    /// A key without the white space around it.
    pub fn new(key: impl Into<String>) -> Self {
        let key = Zeroizing::new(key.into());
        Self(Arc::new(Zeroizing::new(key.trim().to_owned())))
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// `text` without the key: a platform may repeat it.
    pub(crate) fn redact(&self, text: &str) -> String {
        // Replacing an empty text would put the mask between all characters.
        if self.0.is_empty() {
            text.to_owned()
        } else {
            text.replace(self.reveal(), HIDDEN)
        }
    }
}

impl fmt::Debug for PlatformKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

/// Source of keys: the host reads them one by one, by the name in the charter.
pub trait PlatformSecrets: Send + Sync {
    /// The value of the variable `name`.
    fn secret(&self, name: &str) -> Option<PlatformKey>;
}

/// No keys at all.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSecrets;

impl PlatformSecrets for NoSecrets {
    fn secret(&self, _: &str) -> Option<PlatformKey> {
        None
    }
}
