//! Every error code that a user can meet has a page, and every page a code.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use crate::finding::Finding;
use crate::pattern;
use crate::tree::{self, Tree};

pub(super) const PAGES_FOLDER: &str = "docs/errors";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let codes = codes_in_sources(tree);
    let pages: BTreeMap<&str, &str> = tree
        .texts()
        .map(|(path, _)| path)
        .filter(|path| is_page(path))
        .map(|path| (tree::file_name(path).trim_end_matches(".md"), path))
        .collect();
    let without_page = codes
        .iter()
        .filter(|(code, _)| !pages.contains_key(code.as_str()))
        .map(|(code, place)| {
            let message = format!("`{code}` has no page {PAGES_FOLDER}/{code}.md");
            Finding::at(place.path, place.text, place.offset, message)
        });
    let without_code = pages
        .iter()
        .filter(|(name, _)| !codes.contains_key(**name))
        .map(|(name, path)| Finding::whole(path, format!("no source knows the code `{name}`")));
    without_page.chain(without_code).collect()
}

/// Whether a file is the page of an error.
pub(super) fn is_page(path: &str) -> bool {
    tree::folder(path) == PAGES_FOLDER && tree::file_name(path) != "README.md"
}

/// Where a code is seen first.
struct Place<'a> {
    path: &'a str,
    text: &'a str,
    offset: usize,
}

/// The codes that sources raise. Tests may make up codes of their own.
fn codes_in_sources(tree: &Tree) -> BTreeMap<String, Place<'_>> {
    // A private-use character is written with the same letters: `\u{F0000}`.
    static CODE: LazyLock<Regex> =
        LazyLock::new(|| pattern::constant(r"\\u\{F[0-9]{4}\}|\b(F[0-9]{4})(?:\b|_)"));
    let mut codes = BTreeMap::new();
    for (path, text) in tree.rust_texts() {
        if !is_crate_source(path) || tree::is_test_file(path) {
            continue;
        }
        for code in CODE.captures_iter(text).filter_map(|found| found.get(1)) {
            let offset = code.start();
            codes
                .entry(code.as_str().to_owned())
                .or_insert(Place { path, text, offset });
        }
    }
    codes
}

fn is_crate_source(path: &str) -> bool {
    let mut parts = path.split('/');
    parts.next() == Some("crates") && parts.nth(1) == Some("src")
}

#[cfg(test)]
#[path = "error_pages_tests.rs"]
mod tests;
