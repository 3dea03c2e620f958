//! Lock files name the public registry or no address at all, so a clone builds anywhere.

use std::sync::LazyLock;

use regex::Regex;

use crate::finding::Finding;
use crate::pattern;
use crate::tree;

const CARGO_SOURCES: [&str; 2] = [
    "registry+https://github.com/rust-lang/crates.io-index",
    "git+https://github.com/",
];

pub(super) fn check(path: &str, text: &str) -> Vec<Finding> {
    match tree::file_name(path) {
        "Cargo.lock" => check_cargo(path, text),
        "package-lock.json" => check_npm(path, text),
        _ => Vec::new(),
    }
}

fn check_cargo(path: &str, text: &str) -> Vec<Finding> {
    static SOURCE: LazyLock<Regex> =
        LazyLock::new(|| pattern::constant(r#"(?m)^\s*source = "([^"]*)""#));
    SOURCE
        .captures_iter(text)
        .filter_map(|captures| captures.get(1))
        .filter(|source| {
            !CARGO_SOURCES
                .iter()
                .any(|known| source.as_str().starts_with(known))
        })
        .map(|source| {
            let message = "an unusual registry address: lock against the public one";
            Finding::at(path, text, source.start(), message)
        })
        .collect()
}

/// npm writes the address it was configured with; left out, every clone uses its own.
fn check_npm(path: &str, text: &str) -> Vec<Finding> {
    static RESOLVED: LazyLock<Regex> =
        LazyLock::new(|| pattern::constant(r#""resolved"\s*:\s*"[a-z+]*https?:"#));
    RESOLVED
        .find_iter(text)
        .map(|found| {
            let message =
                "a download address: set `omit-lockfile-registry-resolved=true` in .npmrc";
            Finding::at(path, text, found.start(), message)
        })
        .collect()
}

#[cfg(test)]
#[path = "locks_tests.rs"]
mod tests;
