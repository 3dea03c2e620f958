//! The places that can write to a terminal, counted: each is a way past the filters, and is looked at once.

use std::sync::LazyLock;

use regex::Regex;

use crate::finding::Finding;
use crate::pattern;
use crate::sources::Source;
use crate::tree;

/// Files that open stdout or stderr, how often, and why they may.
const DOORS: [(&str, usize, &str); 6] = [
    ("crates/fathom-cli/src/output.rs", 2, "masks what it writes"),
    // Where the same two files are once their folders are there.
    (
        "crates/fathom-cli/src/terminal/output.rs",
        2,
        "masks what it writes",
    ),
    (
        "crates/fathom-sandbox/src/worker/mod.rs",
        1,
        "reads from it",
    ),
    ("crates/fathom-sandbox/src/worker.rs", 1, "reads from it"),
    (
        "crates/fathom-testkit/src/bin/model-server.rs",
        2,
        "a program for tests",
    ),
    (
        "crates/fathom-testkit/examples/platform.rs",
        1,
        "a program for tests",
    ),
];

static DOOR: LazyLock<Regex> = LazyLock::new(|| {
    let calls = r"\b(?:io|anstream)::(?:stdout|stderr)\s*\(|\bStdio::inherit\s*\(";
    let imports = r"\buse\s+(?:std::io|tokio::io|anstream)::(?:\{[^}]*\b)?(?:stdout|stderr)\b";
    pattern::constant(&format!(r"{calls}|{imports}|\be?print(?:ln)?!\s*\("))
});

/// Tests, benches and tasks speak to developers, and are left alone.
fn is_shipped(path: &str) -> bool {
    let is_for_developers = path.starts_with("xtask/")
        || path.contains("/benches/")
        || path.starts_with("crates/fathom/examples/");
    !tree::is_test_file(path) && !is_for_developers && !path.ends_with("build.rs")
}

pub(super) fn check(sources: &[Source<'_>]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in sources.iter().filter(|source| is_shipped(source.path)) {
        let (path, text) = (source.path, source.rust.raw);
        let found: Vec<usize> = DOOR
            .find_iter(&source.shipped)
            .map(|found| found.start())
            .collect();
        let known = DOORS.iter().find(|(door, ..)| *door == path);
        let listed = known.map_or(0, |(_, count, _)| *count);
        if found.len() != listed {
            let message = format!(
                "opens stdout or stderr {} times, and the list of such places says {listed}: write through the cli's output",
                found.len()
            );
            let at = found.first().copied().unwrap_or_default();
            findings.push(Finding::at(path, text, at, message));
        }
    }
    findings
}

#[cfg(test)]
#[path = "doors_tests.rs"]
mod tests;
