//! Documentation says what its item's name does not, and begins with it.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::modules::child_files;
use crate::finding::Finding;
use crate::pattern;
use crate::ratchet::Violation;
use crate::rust_source::DocBlock;
use crate::sources::Source;

/// Words that turn a description into a riddle: `What became of it`.
const QUESTIONS: [&str; 8] = [
    "What", "How", "Whether", "Who", "Where", "Why", "Which", "When",
];

pub(crate) fn check(sources: &[Source<'_>]) -> Vec<Violation> {
    let documented = documented_modules(sources);
    sources
        .iter()
        .filter(|source| source.is_crate_source())
        .flat_map(|source| {
            let mut violations = check_blocks(source);
            violations.extend(check_items(source, &documented));
            violations
        })
        .collect()
}

fn check_blocks(source: &Source<'_>) -> Vec<Violation> {
    let mut violations = Vec::new();
    for block in source.rust.doc_blocks() {
        if !source.is_shipped_at(block.offset) {
            continue;
        }
        let first = block.lines.first().copied().unwrap_or_default();
        let at = |check, message: String| {
            let finding = Finding::at(source.path, source.rust.raw, block.offset, message);
            Violation::new(check, source.owner, finding)
        };
        if is_filler(&block) {
            violations.push(at(
                "doc-filler",
                format!("`{first}` adds nothing: say more, or nothing"),
            ));
        } else if first_word(first).is_some_and(|word| QUESTIONS.contains(&word)) {
            let message =
                format!("`{first}`: open with a noun, or with a verb in the third person");
            violations.push(at("doc-question", message));
        }
    }
    violations
}

fn first_word(line: &str) -> Option<&str> {
    line.split(|c: char| !c.is_alphanumeric()).next()
}

/// One line that repeats the name, such as `The file.`, or asks, such as `Why.`
fn is_filler(block: &DocBlock<'_>) -> bool {
    static FILLER: LazyLock<Regex> = LazyLock::new(|| {
        let questions = QUESTIONS.join("|");
        pattern::constant(&format!(
            r"^(?:(?:The|Its|Their|This) [\w-]+|{questions})\.$"
        ))
    });
    matches!(block.lines.as_slice(), [line] if FILLER.is_match(line))
}

/// Public types, traits, functions and modules need documentation; fields and variants may do without.
fn check_items(source: &Source<'_>, documented: &BTreeSet<&str>) -> Vec<Violation> {
    static ITEM: LazyLock<Regex> = LazyLock::new(|| {
        pattern::constant(
            r"(?m)^[ \t]*pub\s+(?:(?:const|async|unsafe|extern)\s+)*(fn|struct|enum|union|trait|mod)\s+(\w+)\s*(;)?",
        )
    });
    let mut violations = Vec::new();
    for captures in ITEM.captures_iter(&source.shipped) {
        let (Some(item), Some(kind), Some(name)) =
            (captures.get(0), captures.get(1), captures.get(2))
        else {
            continue;
        };
        let indent = item.as_str().len() - item.as_str().trim_start().len();
        let preamble = source.rust.preamble(item.start() + indent);
        let is_hidden = preamble
            .attributes
            .iter()
            .any(|attribute| attribute.contains("doc(hidden)") || attribute.contains("doc = "));
        let is_module_file = kind.as_str() == "mod" && captures.get(3).is_some();
        let is_documented_inside = is_module_file
            && child_files(source.path, &preamble.attributes, name.as_str())
                .iter()
                .any(|file| documented.contains(file.as_str()));
        if preamble.first_doc_line.is_none() && !is_hidden && !is_documented_inside {
            let message = format!("public `{}` has no documentation", name.as_str());
            let finding = Finding::at(source.path, source.rust.raw, name.start(), message);
            violations.push(Violation::new("doc-missing", source.owner, finding));
        }
    }
    violations
}

/// Files that begin with `//!`.
fn documented_modules<'a>(sources: &'a [Source<'_>]) -> BTreeSet<&'a str> {
    sources
        .iter()
        .filter(|source| source.rust.raw.trim_start().starts_with("//!"))
        .map(|source| source.path)
        .collect()
}

#[cfg(test)]
#[path = "docs_tests.rs"]
mod tests;
