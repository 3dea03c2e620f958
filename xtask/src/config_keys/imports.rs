//! What names mean in a file, by its `use` and `mod`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use crate::pattern;

/// Paths by the names that a file knows them under.
#[derive(Default)]
pub(super) struct Imports<'a> {
    paths: BTreeMap<&'a str, Vec<&'a str>>,
}

impl<'a> Imports<'a> {
    pub(super) fn of(code: &'a str) -> Self {
        static IMPORT: LazyLock<Regex> = LazyLock::new(|| {
            pattern::constant(
                r"(?m)^\s*(?:pub(?:\([^)]*\))?\s+)?(use|mod)\s+([^;{]+(?:\{[^;]*\})?);",
            )
        });
        let mut imports = Self::default();
        for captures in IMPORT.captures_iter(code) {
            let (Some(kind), Some(tree)) = (captures.get(1), captures.get(2)) else {
                continue;
            };
            if kind.as_str() == "mod" {
                let name = tree.as_str().trim();
                imports.paths.insert(name, vec!["self", name]);
            } else {
                imports.add(&[], tree.as_str());
            }
        }
        imports
    }

    /// The segments that a name stands for.
    pub(super) fn path(&self, name: &str) -> Option<&[&'a str]> {
        self.paths.get(name).map(Vec::as_slice)
    }

    /// Takes in `a::b`, `a::b as c` and `a::{b, c::{d}}`.
    fn add(&mut self, above: &[&'a str], tree: &'a str) {
        let tree = tree.trim();
        if let Some((front, list)) = tree.split_once('{') {
            let mut below = above.to_vec();
            below.extend(segments(front));
            let list = list.trim_end().strip_suffix('}').unwrap_or(list);
            for part in parts(list) {
                self.add(&below, part);
            }
            return;
        }
        let (path, alias) = match tree.split_once(" as ") {
            Some((path, alias)) => (path, Some(alias.trim())),
            None => (tree, None),
        };
        let mut whole = above.to_vec();
        whole.extend(segments(path));
        // `a::{self}` brings in `a`.
        if whole.last() == Some(&"self") && whole.len() > 1 {
            whole.pop();
        }
        if let Some(name) = alias.or(whole.last().copied()) {
            self.paths.entry(name).or_insert(whole);
        }
    }
}

fn segments(path: &str) -> impl Iterator<Item = &str> {
    path.split("::")
        .map(str::trim)
        .filter(|part| !part.is_empty())
}

/// What commas part that are in no braces.
fn parts(list: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    list.split(|c| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
    .filter(|part| !part.trim().is_empty())
    .collect()
}

#[cfg(test)]
#[path = "imports_tests.rs"]
mod tests;
