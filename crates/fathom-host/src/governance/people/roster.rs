//! Names of people and their roles.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use fathom_store::StoreError;

use crate::error::HostError;

/// File with the names of users.
// Read as a file instead of by `getpwuid`, which would load the system's name services into this process.
const PASSWD: &str = "/etc/passwd";

/// A user of the operating system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OsUser {
    /// The number by which the system knows them.
    pub uid: u32,
    /// Their name, where there is one.
    pub name: Option<String>,
}

impl OsUser {
    /// The user of this process, as the system says.
    pub fn current() -> Self {
        let uid = rustix::process::getuid().as_raw();
        let names = std::fs::read_to_string(PASSWD).unwrap_or_default();
        Self {
            uid,
            name: name_in(&names, uid),
        }
    }
}

/// `os:alice`, or `os:1000` where the number has no name.
impl fmt::Display for OsUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "os:{name}"),
            None => write!(f, "os:{}", self.uid),
        }
    }
}

/// The name of a user in the system's list: `name:password:uid:…`, one a line.
fn name_in(list: &str, uid: u32) -> Option<String> {
    list.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next().filter(|name| !name.is_empty())?;
        // The fields are name, password, uid; `nth` skips the password.
        let found: u32 = fields.nth(1)?.parse().ok()?;
        (found == uid).then(|| name.to_owned())
    })
}

/// The user whose folder it is.
pub(super) fn owner_of(folder: &Path) -> Result<u32, HostError> {
    let found = std::fs::metadata(folder).map_err(|source| StoreError::Io {
        doing: "look at",
        path: folder.to_owned(),
        source: source.into(),
    })?;
    Ok(found.uid())
}

/// A name in `[people]` that is neither a user's nor a key's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid person `{name}`; expected `os:NAME` or `key:FINGERPRINT`")]
pub struct InvalidPersonError {
    /// The name as it was written.
    pub name: String,
}

/// Roles of people, from `[people]` of `fathom.toml`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApproverRoster(BTreeMap<String, BTreeSet<String>>);

impl ApproverRoster {
    /// Takes roles with the names of people, each `os:NAME`, `os:NUMBER` or `key:FINGERPRINT`.
    pub fn new(
        roles: impl IntoIterator<Item = (String, Vec<String>)>,
    ) -> Result<Self, InvalidPersonError> {
        let mut roster = BTreeMap::new();
        for (role, people) in roles {
            let is_person = |name: &&String| {
                let person = name.strip_prefix("os:").or(name.strip_prefix("key:"));
                person.is_none_or(str::is_empty)
            };
            if let Some(name) = people.iter().find(is_person) {
                return Err(InvalidPersonError { name: name.clone() });
            }
            roster.insert(role, people.into_iter().collect());
        }
        Ok(Self(roster))
    }

    /// True if `person` has one of `roles`, or any role if none is named.
    pub fn has(&self, person: &str, roles: &[String]) -> bool {
        let mut held = self.0.iter().filter(|(_, people)| people.contains(person));
        held.any(|(role, _)| roles.is_empty() || roles.contains(role))
    }
}

#[cfg(test)]
#[path = "roster_tests.rs"]
mod tests;
