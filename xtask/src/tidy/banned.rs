//! Text that must not be in the tree.
//!
//! The patterns are put together from pieces, so that a plain search for them finds real uses only.

use std::sync::LazyLock;

use regex::Regex;

use crate::finding::Finding;
use crate::pattern;
use crate::sources::Source;

/// Paths that exist on one machine only, in any text file.
pub(super) fn check_machine_paths(path: &str, text: &str) -> Vec<Finding> {
    static MACHINE_PATH: LazyLock<Regex> = LazyLock::new(|| {
        let folders = ["work", "farm", "root", r"home/\w+", r"Users/\w+"].join("|");
        // A path that goes on from something (`a/b`, `$X/b`, `{x}/b`, `*/b`) is relative to it.
        pattern::constant(&format!(r"(?m)(?:^|[^\w.~$*)\]}}>-])(/(?:{folders})/)"))
    });
    MACHINE_PATH
        .captures_iter(text)
        .filter_map(|captures| captures.get(1))
        .map(|found| {
            let message = format!("`{}…` is a path of one machine", found.as_str());
            Finding::at(path, text, found.start(), message)
        })
        .collect()
}

struct Ban {
    pattern: Regex,
    message: &'static str,
    place: Place,
}

enum Place {
    Everywhere,
    Tests,
}

static BANS: LazyLock<Vec<Ban>> = LazyLock::new(|| {
    let everywhere = |pattern: &str, message| Ban {
        pattern: pattern::constant(pattern),
        message,
        place: Place::Everywhere,
    };
    vec![
        everywhere(
            concat!(r"\b(?:to", r"do|unimplem", r"ented)!\s*[(\[{]"),
            "a stub: write the code or leave the path out",
        ),
        everywhere(
            concat!(r"#\[\s*(?:cfg_attr\(.*,\s*)?ign", r"ore\b"),
            "an ignored test shows nothing: run it or remove it",
        ),
        everywhere(
            concat!(r"#!?\[\s*(?:cfg_attr\(.*,\s*)?al", r"low\s*\("),
            "write `#[expect(…, reason = …)]`, which tells when it is no longer needed",
        ),
        Ban {
            pattern: pattern::constant(concat!(
                r"\b(?:thread|time)::(?:sle",
                r"ep(?:_until)?\b|\{[^}]*\bsle",
                r"ep(?:_until)?\b)"
            )),
            message: "a test that sleeps is slow or flaky: wait for the event itself",
            place: Place::Tests,
        },
    ]
});

/// Code that must not be in a Rust file; comments and strings may speak of it.
pub(super) fn check_rust(source: &Source<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for ban in BANS.iter() {
        for found in ban.pattern.find_iter(&source.rust.code) {
            let applies = match ban.place {
                Place::Everywhere => true,
                Place::Tests => !source.is_shipped_at(found.start()),
            };
            if applies {
                let raw = source.rust.raw;
                findings.push(Finding::at(source.path, raw, found.start(), ban.message));
            }
        }
    }
    findings
}

#[cfg(test)]
#[path = "banned_tests.rs"]
mod tests;
