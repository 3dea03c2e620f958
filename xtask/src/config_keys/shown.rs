//! What journeys say and write about keys.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

use super::declared::Key;
use crate::conformance::is_journey_file;
use crate::finding::Finding;
use crate::pattern;
use crate::sources::Source;

/// A test that says which keys it shows.
struct Marker<'a> {
    test: &'a str,
    path: &'a str,
    text: &'a str,
    offset: usize,
}

/// What is known of keys from journeys.
pub(super) struct Shown<'a> {
    /// By file and key.
    markers: BTreeMap<(&'a str, &'a str), Vec<Marker<'a>>>,
    /// Journey files by the last parts of keys that they give a value, in some file.
    written: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

impl<'a> Shown<'a> {
    pub(super) fn read(sources: &'a [Source<'a>]) -> Self {
        let mut shown = Self {
            markers: BTreeMap::new(),
            written: BTreeMap::new(),
        };
        for source in sources.iter().filter(|source| is_journey_file(source.path)) {
            shown.read_markers(source);
            shown.read_literals(source);
        }
        shown
    }

    fn read_markers(&mut self, source: &'a Source<'a>) {
        static TEST: LazyLock<Regex> = LazyLock::new(|| pattern::constant(r"\bfn\s+(\w+)"));
        for block in source.rust.doc_blocks() {
            let lines = block.lines.iter();
            for marker in lines.filter_map(|line| line.strip_prefix("Key: ")) {
                let (file, keys) = marker.split_once(' ').unwrap_or((marker, ""));
                let test = TEST
                    .captures_at(&source.rust.code, block.offset)
                    .and_then(|captures| captures.get(1))
                    .map_or("", |name| name.as_str());
                for key in keys.split(',').map(str::trim) {
                    self.markers.entry((file, key)).or_default().push(Marker {
                        test,
                        path: source.path,
                        text: source.rust.raw,
                        offset: block.offset,
                    });
                }
            }
        }
    }

    fn read_literals(&mut self, source: &'a Source<'a>) {
        static VALUE: LazyLock<Regex> =
            LazyLock::new(|| pattern::constant(r"(?:\\n|\b)(\w+)\s*[=:]\s"));
        for literal in &source.rust.literals {
            let text = &source.rust.raw[literal.clone()];
            let keys = VALUE
                .captures_iter(text)
                .filter_map(|captures| captures.get(1));
            for key in keys {
                self.written
                    .entry(key.as_str())
                    .or_default()
                    .insert(source.path);
            }
        }
    }

    /// The journeys that show a key, as file and name of the test.
    pub(super) fn journeys(&self, key: &Key<'_>) -> Vec<(&'a str, &'a str)> {
        let markers = self.markers.get(&(key.file, key.name.as_str()));
        let markers = markers.into_iter().flatten();
        markers.map(|marker| (marker.path, marker.test)).collect()
    }

    /// Journey files that give a key of this name a value; which file's key that is they do not say.
    pub(super) fn written_in(&self, key: &Key<'_>) -> impl Iterator<Item = &'a str> {
        let last = key.name.rsplit('.').find(|part| *part != "*");
        let files = last.and_then(|last| self.written.get(last));
        files.into_iter().flatten().copied()
    }

    /// Markers whose key no file has.
    pub(super) fn unknown(&self, keys: &[Key<'_>]) -> Vec<Finding> {
        let known: BTreeSet<(&str, &str)> = keys
            .iter()
            .map(|key| (key.file, key.name.as_str()))
            .collect();
        let unknown = self.markers.iter().filter(|(key, _)| !known.contains(*key));
        unknown
            .flat_map(|((file, key), markers)| {
                markers.iter().map(move |marker| {
                    let message =
                        format!("`{file}` has no key `{key}`; write `Key: FILE KEY, KEY`");
                    Finding::at(marker.path, marker.text, marker.offset, message)
                })
            })
            .collect()
    }
}

#[cfg(test)]
#[path = "shown_tests.rs"]
mod tests;
