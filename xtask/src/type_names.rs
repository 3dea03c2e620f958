//! Type definitions, as they stand in the text.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use anyhow::bail;
use regex::Regex;

use crate::pattern;
use crate::sources::Source;

/// Names that several crates may share, each with a reason.
pub(crate) const SHARED_FILE: &str = "xtask/shared_types.txt";

/// Most names that crates may share for a reason.
const SHARED_MAX: usize = 25;

/// A struct, enum, trait or union outside tests.
pub(crate) struct TypeDefinition<'a> {
    pub(crate) name: &'a str,
    pub(crate) owner: &'a str,
    pub(crate) path: &'a str,
    pub(crate) text: &'a str,
    pub(crate) offset: usize,
    /// `pub` or `pub(crate)`.
    pub(crate) is_public: bool,
}

/// All types of the crates; the developer's tools under xtask are their own world.
pub(crate) fn definitions<'a>(sources: &'a [Source<'_>]) -> Vec<TypeDefinition<'a>> {
    static TYPE: LazyLock<Regex> = LazyLock::new(|| {
        let visibility = r"(?:(pub(?:\(crate\))?|pub\([^)]*\))\s+)?";
        pattern::constant(&format!(
            r"(?m)^[ \t]*{visibility}(?:unsafe\s+)?(?:struct|enum|trait|union)\s+(\w+)"
        ))
    });
    let mut definitions = Vec::new();
    for source in sources.iter().filter(|source| source.is_crate_source()) {
        for captures in TYPE.captures_iter(&source.shipped) {
            let Some(name) = captures.get(2) else {
                continue;
            };
            let visibility = captures.get(1).map(|visibility| visibility.as_str());
            definitions.push(TypeDefinition {
                name: name.as_str(),
                owner: source.owner,
                path: source.path,
                text: source.rust.raw,
                offset: name.start(),
                is_public: matches!(visibility, Some("pub" | "pub(crate)")),
            });
        }
    }
    definitions
}

/// Definitions by name.
pub(crate) fn by_name<'d, 'a>(
    definitions: impl Iterator<Item = &'d TypeDefinition<'a>>,
) -> BTreeMap<&'a str, Vec<&'d TypeDefinition<'a>>> {
    let mut names: BTreeMap<&str, Vec<&TypeDefinition<'_>>> = BTreeMap::new();
    for definition in definitions {
        names.entry(definition.name).or_default().push(definition);
    }
    names
}

/// Public names that two crates or more have, with the definitions of each.
pub(crate) fn shared_across_crates<'d, 'a>(
    definitions: &'d [TypeDefinition<'a>],
) -> BTreeMap<&'a str, Vec<&'d TypeDefinition<'a>>> {
    let public = definitions.iter().filter(|definition| definition.is_public);
    let mut names = by_name(public);
    names.retain(|_, places| {
        let owners: BTreeSet<&str> = places.iter().map(|place| place.owner).collect();
        owners.len() > 1
    });
    names
}

/// Reads lines of a name and a reason.
pub(crate) fn parse_shared(text: &str) -> anyhow::Result<BTreeMap<&str, &str>> {
    let mut names = BTreeMap::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let entry = line
            .split_once(' ')
            .map(|(name, reason)| (name, reason.trim()));
        let Some((name, reason)) = entry.filter(|(_, reason)| !reason.is_empty()) else {
            bail!("{SHARED_FILE}, line {}: expected `Name reason`", index + 1);
        };
        names.insert(name, reason);
    }
    if names.len() > SHARED_MAX {
        bail!(
            "{SHARED_FILE} has {} names, the limit is {SHARED_MAX}",
            names.len()
        );
    }
    Ok(names)
}

#[cfg(test)]
#[path = "type_names_tests.rs"]
mod tests;
