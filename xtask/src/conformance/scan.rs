//! Finds test functions and the IDs that they carry.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::requirements::is_id;
use crate::pattern;
use crate::rust_source::RustSource;

/// A test that carries at least one ID.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Test {
    pub(crate) path: String,
    pub(crate) name: String,
    pub(crate) ids: BTreeSet<String>,
    /// Those of the IDs that it shows as a journey: all at the front of its name.
    pub(crate) journey_ids: BTreeSet<String>,
}

/// Whether the tests of a file drive only what a user drives: the binary, or the library's public API.
/// The conformance table states this rule for readers.
pub(crate) fn is_journey_file(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    matches!(
        parts.as_slice(),
        ["crates", "fathom-cli", "tests", "it", ..]
            | [
                "crates",
                "fathom" | "fathom-server",
                "tests",
                "journeys",
                ..
            ]
    )
}

/// The tests of a file that carry IDs. A function of `proptest!` counts when it has `#[test]`, since
/// only then does it run.
pub(crate) fn tests_in(path: &str, source: &RustSource<'_>) -> Vec<Test> {
    static FUNCTION: LazyLock<Regex> = LazyLock::new(|| {
        pattern::constant(r"(?:\bpub(?:\([^)]*\))?\s+)?(?:\basync\s+)?\bfn\s+(\w+)")
    });
    FUNCTION
        .captures_iter(&source.code)
        .filter_map(|captures| {
            let (item, name) = (captures.get(0)?, captures.get(1)?.as_str());
            let preamble = source.preamble(item.start());
            if !preamble
                .attributes
                .iter()
                .any(|attribute| is_test_attribute(attribute))
            {
                return None;
            }
            let mut ids = ids_in_name(name);
            ids.extend(ids_in_doc(preamble.first_doc_line.unwrap_or_default()));
            let journey_ids = if is_journey_file(path) {
                ids_at_front(name)
            } else {
                BTreeSet::new()
            };
            (!ids.is_empty()).then(|| Test {
                path: path.to_owned(),
                name: name.to_owned(),
                ids,
                journey_ids,
            })
        })
        .collect()
}

fn is_test_attribute(attribute: &str) -> bool {
    static TEST: LazyLock<Regex> =
        LazyLock::new(|| pattern::constant(r"^#\[\s*(?:\w+::)*test\s*[\](]"));
    TEST.is_match(attribute)
}

/// `e06_child_gets_half` carries E06; the last word of a name is never an ID.
fn ids_in_name(name: &str) -> BTreeSet<String> {
    words(name).flatten().collect()
}

/// `e06_e07_near_the_end` has two at its front, `kill_x04_loses_nothing` none.
fn ids_at_front(name: &str) -> BTreeSet<String> {
    words(name).map_while(|id| id).collect()
}

/// The ID that each word of a name is, if it is one.
fn words(name: &str) -> impl Iterator<Item = Option<String>> {
    let words = name.rsplit_once('_').map_or("", |(front, _)| front);
    words.split('_').map(|word| {
        let is_lower = word.starts_with(|first: char| first.is_ascii_lowercase());
        Some(word.to_ascii_uppercase()).filter(|word| is_lower && is_id(word))
    })
}

fn ids_in_doc(line: &str) -> impl Iterator<Item = String> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| is_id(word))
        .map(str::to_owned)
}

#[cfg(test)]
#[path = "scan_tests.rs"]
mod tests;
