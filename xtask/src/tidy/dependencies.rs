//! A crate that is there in two major versions has a reason, which stands in `deny.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use crate::figures::Lock;
use crate::finding::Finding;
use crate::pattern;
use crate::tree::Tree;

const FILE: &str = "deny.toml";

/// Binds from the moment on that the tree has the file.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let (Some(lock), Some(deny)) = (tree.text("Cargo.lock"), tree.text(FILE)) else {
        return Vec::new();
    };
    let lock = Lock::parse(lock);
    let repeated = lock.repeated();
    let skipped = skipped(deny);
    let mut findings = Vec::new();
    for (name, versions) in &repeated {
        if !skipped.iter().any(|skip| skip.name == *name) {
            let message = format!(
                "`{name}` is locked in {}: name one under `[bans] skip` with a reason, or do without it",
                versions.join(" and ")
            );
            findings.push(Finding::whole(FILE, message));
        }
    }
    for skip in &skipped {
        let Skip { name, version, .. } = skip;
        let is_locked = lock
            .packages
            .iter()
            .any(|package| package.name == *name && is_version(package.version, version));
        let message = if !repeated.contains_key(name) {
            format!("`{name}` is locked in one major version only: remove the entry")
        } else if !is_locked {
            format!("`{name}@{version}` is not locked: remove the entry, or correct its version")
        } else if skip.reason.trim().is_empty() {
            format!("`{name}` needs a `reason`")
        } else {
            continue;
        };
        findings.push(Finding::at(FILE, deny, skip.offset, message));
    }
    findings
}

/// An entry such as `{ crate = "x@1.2.3", reason = "…" }`.
struct Skip<'a> {
    name: &'a str,
    version: &'a str,
    reason: &'a str,
    offset: usize,
}

fn skipped(deny: &str) -> Vec<Skip<'_>> {
    static ENTRY: LazyLock<Regex> = LazyLock::new(|| {
        pattern::constant(r#"(?m)^[^#\n"]*?(?:\{(?P<table>[^}]*)\}|"(?P<crate>[^"]*)")"#)
    });
    static PAIR: LazyLock<Regex> =
        LazyLock::new(|| pattern::constant(r#"(\w+)\s*=\s*"((?:[^"\\]|\\.)*)""#));
    let Some((start, list)) = list(deny) else {
        return Vec::new();
    };
    ENTRY
        .captures_iter(list)
        .filter_map(|captures| {
            let table = captures.name("table").map_or("", |table| table.as_str());
            let pairs: BTreeMap<&str, &str> = PAIR
                .captures_iter(table)
                .filter_map(|pair| Some((pair.get(1)?.as_str(), pair.get(2)?.as_str())))
                .collect();
            let entry = captures.name("table").or(captures.name("crate"))?;
            let id = captures
                .name("crate")
                .map(|id| id.as_str())
                .or_else(|| pairs.get("crate").or(pairs.get("name")).copied())?;
            let (name, version) = id.split_once(['@', ':']).unwrap_or((id, ""));
            let version = pairs.get("version").copied().unwrap_or(version);
            Some(Skip {
                name,
                version: version.trim_start_matches(['=', '^', '~', ' ']),
                reason: pairs.get("reason").copied().unwrap_or_default(),
                offset: start + entry.start(),
            })
        })
        .collect()
}

/// What stands between the brackets of `skip = […]` in the table `[bans]`, and where.
fn list(deny: &str) -> Option<(usize, &str)> {
    static SKIP: LazyLock<Regex> = LazyLock::new(|| pattern::constant(r"(?m)^skip\s*=\s*\["));
    let bans = deny.find("[bans]")?;
    let table = &deny[bans..];
    let table = table.split("\n[").next().unwrap_or(table);
    let start = bans + SKIP.find(table)?.end();
    let mut is_text = false;
    let length = deny[start..].find(|c: char| {
        is_text ^= c == '"';
        c == ']' && !is_text
    })?;
    Some((start, &deny[start..start + length]))
}

/// `1.2.3` is a version `1`, `1.2` and `1.2.3`.
fn is_version(locked: &str, wanted: &str) -> bool {
    let rest = locked.strip_prefix(wanted);
    rest.is_some_and(|rest| wanted.is_empty() || rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
#[path = "dependencies_tests.rs"]
mod tests;
