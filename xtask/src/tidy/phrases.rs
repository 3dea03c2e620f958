//! What people read is plain English: phrases that a native writer would not use.
//!
//! Strings of the engine and its programs are counted as well, although they may only change together
//! with the record's format.

use std::sync::LazyLock;

use regex::Regex;

use crate::finding::Finding;
use crate::pattern;
use crate::ratchet::Violation;
use crate::sources::Source;
use crate::tree::{self, Tree};

const CHECK: &str = "phrase";

static PHRASE: LazyLock<Regex> = LazyLock::new(|| {
    // The engine has no look-ahead, so what may follow `is no` is matched and left out again.
    let phrases = [
        r"\b(?:is|are) no (?P<next>\w+)",
        r"that is none",
        r"cannot be meant",
        r"cannot be this",
        r"there is no ",
        r"\bbe had\b",
        r"had again",
        r"wants? to be left alone",
        r"\bgo(?:es)? on (?:with|from)",
        r"\bnobody\b",
        r"so many\b",
        r"\bmend\b",
        r"for ever",
        r"all the same",
        r"the word of",
        r"a word is given",
        r"in the house",
        r"looks? whether",
    ];
    pattern::constant(&format!("(?i){}", phrases.join("|")))
});

/// What may stand after `is no`.
const NEXT: [&str; 3] = ["longer", "more", "different"];

pub(super) fn check(tree: &Tree, sources: &[Source<'_>]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for source in sources.iter().filter(|source| source.is_product()) {
        let raw = source.rust.raw;
        for (start, text) in read_by_people(source) {
            violations.extend(phrases(text).map(|(offset, message)| {
                let finding = Finding::at(source.path, raw, start + offset, message);
                Violation::new(CHECK, source.owner, finding)
            }));
        }
    }
    for (path, text) in tree.texts() {
        if let Some(key) = document_key(path) {
            violations.extend(phrases(text).map(|(offset, message)| {
                Violation::new(CHECK, key, Finding::at(path, text, offset, message))
            }));
        }
    }
    violations
}

/// Each phrase with its offset.
fn phrases(text: &str) -> impl Iterator<Item = (usize, String)> {
    PHRASE
        .captures_iter(text)
        .filter(|captures| {
            captures
                .name("next")
                .is_none_or(|next| !NEXT.contains(&next.as_str()))
        })
        .filter_map(|captures| captures.get(0))
        .map(|found| {
            let message = format!("`{}`: write it as an English speaker would", found.as_str());
            (found.start(), message)
        })
}

/// Documents are counted by folder; decisions and generated tables are for developers.
fn document_key(path: &str) -> Option<&str> {
    let is_generated = matches!(path, "docs/conformance.md" | "docs/dev/config-keys.md");
    if !tree::has_extension(path, "md") || is_generated {
        return None;
    }
    match tree::folder(path) {
        "" if path == "README.md" => Some("README.md"),
        folder @ ("docs" | "docs/errors" | "docs/dev") => Some(folder),
        _ => None,
    }
}

/// Strings, but for what models read, and help texts of the command line.
fn read_by_people<'a>(source: &Source<'a>) -> Vec<(usize, &'a str)> {
    let rust = &source.rust;
    let mut texts = Vec::new();
    // Prompts change where a measurement says so, never for their style.
    if !matches!(tree::file_name(source.path), "prompts.rs" | "words.rs") {
        let literals = rust.literals.iter();
        let shipped = literals.filter(|literal| source.is_shipped_at(literal.start));
        texts.extend(shipped.map(|literal| (literal.start, &rust.raw[literal.clone()])));
    }
    if is_help(source.path) {
        let comments = rust.comments.iter();
        let docs = comments.filter(|comment| rust.raw[comment.start..].starts_with("///"));
        texts.extend(docs.map(|comment| (comment.start, &rust.raw[comment.clone()])));
    }
    texts
}

/// Where clap makes help texts from documentation.
fn is_help(path: &str) -> bool {
    let folders = ["args", "typed"];
    folders.iter().any(|folder| {
        let rest = path.strip_prefix("crates/fathom-cli/src/");
        let rest = rest.and_then(|rest| rest.strip_prefix(folder));
        rest.is_some_and(|rest| rest.starts_with(['/', '.']))
    })
}

#[cfg(test)]
#[path = "phrases_tests.rs"]
mod tests;
