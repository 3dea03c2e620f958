//! Keys of platforms, which neither a file nor a model ever holds.

use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

/// What stands in for a key wherever it might be seen.
const HIDDEN: &str = "[hidden]";

/// A key. It shows as `[hidden]`, and its memory is cleared when it goes.
#[derive(Clone)]
pub struct Secret(Arc<Zeroizing<String>>);

impl Secret {
    /// Takes a key in, without the white space round it.
    pub fn new(key: impl Into<String>) -> Self {
        let key = Zeroizing::new(key.into());
        Self(Arc::new(Zeroizing::new(key.trim().to_owned())))
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// `text` without the key: a platform may repeat it.
    pub(crate) fn redact(&self, text: &str) -> String {
        if self.0.is_empty() {
            text.to_owned()
        } else {
            text.replace(self.reveal(), HIDDEN)
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

/// Where keys come from: the host reads them, one by one and by the name that a charter gives.
pub trait Secrets: Send + Sync {
    /// The value of the variable `name`.
    fn secret(&self, name: &str) -> Option<Secret>;
}

/// No keys at all.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSecrets;

impl Secrets for NoSecrets {
    fn secret(&self, _: &str) -> Option<Secret> {
        None
    }
}
