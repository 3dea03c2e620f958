//! Versions of the protocol and of a charter.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The protocol that this build speaks.
pub const PROTOCOL: CharterVersion = CharterVersion {
    major: 1,
    minor: 0,
    patch: 0,
};

/// A version as `MAJOR.MINOR.PATCH`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct CharterVersion {
    /// Grows when something old no longer works.
    pub major: u32,
    /// Grows when something new works.
    pub minor: u32,
    /// Grows when something works better.
    pub patch: u32,
}

/// A text that is not a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid version; expected MAJOR.MINOR.PATCH, such as 1.0.0")]
pub struct VersionError;

impl FromStr for CharterVersion {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        let mut parts = text.split('.').map(number);
        let mut next = || parts.next().flatten().ok_or(VersionError);
        let version = Self {
            major: next()?,
            minor: next()?,
            patch: next()?,
        };
        match parts.next() {
            None => Ok(version),
            Some(_) => Err(VersionError),
        }
    }
}

fn number(text: &str) -> Option<u32> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    // `1.01.0` would be written back as `1.1.0`, and then no longer be what was signed.
    let is_padded = text.len() > 1 && text.starts_with('0');
    (is_plain && !is_padded)
        .then(|| text.parse().ok())
        .flatten()
}

impl fmt::Display for CharterVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            major,
            minor,
            patch,
        } = self;
        write!(f, "{major}.{minor}.{patch}")
    }
}

impl From<CharterVersion> for String {
    fn from(version: CharterVersion) -> Self {
        version.to_string()
    }
}

impl TryFrom<String> for CharterVersion {
    type Error = VersionError;

    fn try_from(text: String) -> Result<Self, VersionError> {
        text.parse()
    }
}

/// Instructions for converting a charter of another major version to the version of this build.
pub(super) fn migration(said: CharterVersion) -> String {
    let CharterVersion { major, .. } = said;
    let ours = PROTOCOL.major;
    if major < ours {
        format!("migrate it; see \"From protocol {major} to {ours}\" in docs/charters.md")
    } else {
        format!(
            "use a version of Fathom that supports protocol {major}, or migrate the charter back; see \"From protocol {major} to {ours}\" in that version's guide"
        )
    }
}
