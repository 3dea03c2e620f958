//! An error is a type: a string can only be shown.

use std::sync::LazyLock;

use regex::Regex;

use crate::finding::Finding;
use crate::pattern;
use crate::ratchet::Violation;
use crate::sources::Source;

pub(crate) fn check(sources: &[Source<'_>]) -> Vec<Violation> {
    sources
        .iter()
        .filter(|source| source.is_crate_source())
        .flat_map(|source| {
            places(source).map(|offset| {
                let message = "an error that is a `String`: give it a type";
                let finding = Finding::at(source.path, source.rust.raw, offset, message);
                Violation::new("string-error", source.owner, finding)
            })
        })
        .collect()
}

/// Where a `Result` has a string as its error, which may stand some lines below.
fn places<'s>(source: &'s Source<'_>) -> impl Iterator<Item = usize> + 's {
    static RESULT: LazyLock<Regex> =
        LazyLock::new(|| pattern::constant(r"\bResult<[^;{}]*?,\s*String,?\s*>"));
    RESULT.find_iter(&source.shipped).map(|found| found.start())
}

#[cfg(test)]
#[path = "string_errors_tests.rs"]
mod tests;
