use super::*;
use crate::sources;
use crate::tree::Tree;

/// The names that are found.
#[track_caller]
fn unused(files: &[(&str, &str)], expected: &[&str]) {
    let tree = Tree::of(files);
    let sources = sources::parse_all(&tree);
    let found: Vec<String> = check(&sources)
        .iter()
        .map(|violation| {
            let finding = violation.finding.to_string();
            finding.split('`').nth(1).unwrap_or_default().to_owned()
        })
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn an_item_that_only_tests_name_is_found() {
    unused(
        &[
            (
                "crates/a/src/lib.rs",
                "pub fn used() {}\npub fn gone() {}\npub const LIMIT: u8 = 1;\npub(crate) fn inner() {}",
            ),
            (
                "crates/a/src/run.rs",
                "fn f() { used() }\n#[cfg(test)]\nmod tests { fn g() { gone() } }",
            ),
            ("crates/a/tests/it/main.rs", "fn f() { gone(); LIMIT }"),
            ("crates/fathom-testkit/src/lib.rs", "pub fn f() { gone() }"),
        ],
        &["gone", "LIMIT"],
    );
}

#[test]
fn a_re_export_or_an_impl_is_no_use() {
    unused(
        &[
            (
                "crates/a/src/lib.rs",
                "pub use run::{Run, Step};\npub(crate) use run::Step;",
            ),
            (
                "crates/a/src/run.rs",
                "pub struct Run;\nimpl Run { fn f() {} }\nimpl Display for Run {}\npub struct Step;\nfn f(step: Step) {}",
            ),
        ],
        &["Run"],
    );
}

#[test]
fn what_the_library_passes_on_is_used() {
    unused(
        &[
            (
                "crates/fathom/src/lib.rs",
                "pub use fathom_a::Run;\npub fn open() {}",
            ),
            ("crates/fathom-a/src/lib.rs", "pub struct Run;"),
        ],
        &[],
    );
}

#[test]
fn names_in_attributes_and_format_strings_are_uses() {
    unused(
        &[(
            "crates/a/src/lib.rs",
            "pub fn usual() {}\npub const MAX: u8 = 1;\n#[serde(default = \"usual\")]\nfn f() { format!(\"at most {MAX}\") }",
        )],
        &[],
    );
}
