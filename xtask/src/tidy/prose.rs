//! A decision record says what was weighed and when to weigh it again.

use crate::finding::Finding;
use crate::tree;

const HEADINGS: [&str; 4] = ["Context", "Options", "Choice", "What would change our mind"];

pub(super) fn check(path: &str, text: &str) -> Vec<Finding> {
    if !is_decision(path) {
        return Vec::new();
    }
    HEADINGS
        .iter()
        .filter(|wanted| !headings(text).any(|heading| begins_with(heading, wanted)))
        .map(|wanted| Finding::whole(path, format!("the heading `{wanted}` is missing")))
        .collect()
}

fn is_decision(path: &str) -> bool {
    let stem = tree::file_name(path).strip_suffix(".md");
    tree::folder(path) == "docs/decisions" && stem.is_some_and(|stem| stem != "README")
}

fn headings(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| line.trim_start_matches('#').trim())
}

fn begins_with(heading: &str, wanted: &str) -> bool {
    heading.to_lowercase().starts_with(&wanted.to_lowercase())
}

#[cfg(test)]
#[path = "prose_tests.rs"]
mod tests;
