//! Keys that go. Each is still read, with a warning, in the minor version that deprecates it, and gone in the next one.

use std::borrow::Cow;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::problem::CharterProblem;
use super::version::CharterVersion;

/// A key that goes, and the one that takes its place in the same table.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeprecatedKey {
    /// The file it stands in.
    pub(super) file: &'static str,
    /// The tables that lead to it, and the key, as `packet.mtu`.
    pub(super) key: &'static str,
    /// The key to write instead.
    pub(super) instead: &'static str,
    /// The version of the protocol that deprecates it.
    pub(super) since: CharterVersion,
}

/// The keys that go. Protocol 1.0 has nothing to take back yet.
pub(super) const DEPRECATED: &[DeprecatedKey] = &[];

/// Moves the values of deprecated keys of a file to their new keys, and reports each with its place. A key whose period
/// is over stays where it is, as an unknown key.
pub(super) fn rename(
    document: &mut DeTable<'_>,
    file: &str,
    known: &[DeprecatedKey],
    spoken: CharterVersion,
) -> Vec<(Range<usize>, CharterProblem)> {
    let is_read = |old: &&DeprecatedKey| {
        old.file == file && (old.since.major, old.since.minor) == (spoken.major, spoken.minor)
    };
    let found = known.iter().filter(is_read);
    found.filter_map(|old| rename_one(document, old)).collect()
}

fn rename_one(
    document: &mut DeTable<'_>,
    old: &DeprecatedKey,
) -> Option<(Range<usize>, CharterProblem)> {
    let mut parts: Vec<&str> = old.key.split('.').collect();
    let key = parts.pop()?;
    let mut table = document;
    for part in parts {
        table = match table.get_mut(part)?.get_mut() {
            DeValue::Table(below) => below,
            _ => return None,
        };
    }
    let mut keys = table.keys();
    let at = keys.find(|own| own.get_ref() == key).map(Spanned::span)?;
    // Where both are there, the old one stays, and is an unknown key.
    if table.contains_key(old.instead) {
        return None;
    }
    let value = table.remove(key)?;
    table.insert(Spanned::new(at.clone(), Cow::Borrowed(old.instead)), value);
    let flaw = CharterProblem::Deprecated {
        key: old.key.to_owned(),
        since: old.since,
        instead: old.instead,
    };
    Some((at, flaw))
}

#[cfg(test)]
#[path = "deprecated_tests.rs"]
mod tests;
