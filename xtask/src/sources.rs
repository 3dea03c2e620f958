//! The tree's Rust files, parsed once for all checks.

use std::num::NonZero;
use std::ops::Range;
use std::thread;

use crate::rust_source::{RustSource, with_blanks};
use crate::tree::{self, Tree};

/// One Rust file.
pub(crate) struct Source<'a> {
    pub(crate) path: &'a str,
    /// The crate's folder under `crates/`, or the first folder of any other path.
    pub(crate) owner: &'a str,
    pub(crate) rust: RustSource<'a>,
    /// The code with tests blank as well: nothing at all in a file that holds tests only.
    pub(crate) shipped: String,
    /// Where tests stand in a file that holds other code too.
    tests: Vec<Range<usize>>,
}

impl Source<'_> {
    /// Part of a crate's library or binary: `crates/*/src` without files that hold tests only.
    pub(crate) fn is_crate_source(&self) -> bool {
        let mut parts = self.path.split('/');
        parts.next() == Some("crates")
            && parts.nth(1) == Some("src")
            && !tree::is_test_file(self.path)
    }

    /// Part of what people are given; testkit is for tests.
    pub(crate) fn is_product(&self) -> bool {
        self.is_crate_source() && self.owner != "fathom-testkit"
    }

    /// The text without comments and tests, where literals are code as well.
    pub(crate) fn without_comments(&self) -> String {
        let hidden = self.rust.comments.iter().chain(&self.tests);
        with_blanks(self.rust.raw, hidden)
    }

    /// Whether a place is in code that is compiled without tests.
    pub(crate) fn is_shipped_at(&self, offset: usize) -> bool {
        !tree::is_test_file(self.path) && !self.tests.iter().any(|test| test.contains(&offset))
    }
}

/// Parses every Rust file, on all cores.
pub(crate) fn parse_all(tree: &Tree) -> Vec<Source<'_>> {
    let files: Vec<(&str, &str)> = tree.rust_texts().collect();
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let share = files.len().div_ceil(threads).max(1);
    thread::scope(|scope| {
        let workers: Vec<_> = files
            .chunks(share)
            .map(|chunk| {
                scope.spawn(|| {
                    let parsed = chunk.iter().map(|(path, text)| parse(path, text));
                    parsed.collect::<Vec<_>>()
                })
            })
            .collect();
        workers
            .into_iter()
            .flat_map(|worker| match worker.join() {
                Ok(sources) => sources,
                Err(panic) => std::panic::resume_unwind(panic),
            })
            .collect()
    })
}

fn parse<'a>(path: &'a str, text: &'a str) -> Source<'a> {
    let rust = RustSource::parse(text);
    let tests = rust.test_regions();
    let shipped = if tree::is_test_file(path) {
        with_blanks(&rust.code, std::iter::once(&(0..text.len())))
    } else {
        with_blanks(&rust.code, tests.iter())
    };
    let owner = path.strip_prefix("crates/").unwrap_or(path);
    let owner = owner.split('/').next().unwrap_or(owner);
    Source {
        path,
        owner,
        rust,
        shipped,
        tests,
    }
}

#[cfg(test)]
#[path = "sources_tests.rs"]
mod tests;
