use super::*;
use crate::sources;
use crate::tree::Tree;

/// What is found, as check and line.
#[track_caller]
fn check_files(files: &[(&str, &str)], expected: &[&str]) {
    let tree = Tree::of(files);
    let sources = sources::parse_all(&tree);
    let found: Vec<String> = check(&sources)
        .iter()
        .map(|violation| {
            let finding = violation.finding.to_string();
            let place = finding.split(": ").next().unwrap_or_default();
            format!("{} {place}", violation.check)
        })
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn an_opening_question_and_a_filler_are_found() {
    let text = "/// What became of it.\nfn a() {}\n/// The file.\nfn b() {}\n/// Why.\nfn c() {}\n\
                /// Whatever it was.\nfn d() {}\n/// The file.\n/// It is read once.\nfn e() {}\n";
    check_files(
        &[("crates/a/src/lib.rs", text)],
        &[
            "doc-question crates/a/src/lib.rs:1",
            "doc-filler crates/a/src/lib.rs:3",
            "doc-filler crates/a/src/lib.rs:5",
        ],
    );
}

#[test]
fn tests_may_ask() {
    let text = "#[cfg(test)]\nmod tests {\n/// What it is.\nfn a() {}\n}";
    check_files(
        &[
            ("crates/a/src/lib.rs", text),
            ("crates/a/src/lib_tests.rs", "/// The file.\nfn a() {}"),
        ],
        &[],
    );
}

#[test]
fn a_public_item_needs_documentation() {
    let text = "pub fn a() {}\n/// Does it.\n#[inline]\npub const fn b() {}\npub(crate) fn c() {}\n\
                pub struct D {\n    pub field: u8,\n}\n#[doc(hidden)]\npub fn e() {}\n";
    check_files(
        &[("crates/a/src/lib.rs", text)],
        &[
            "doc-missing crates/a/src/lib.rs:1",
            "doc-missing crates/a/src/lib.rs:6",
        ],
    );
}

#[test]
fn a_module_is_documented_in_its_file() {
    let lib = ("crates/a/src/lib.rs", "pub mod ledger;\npub mod run;");
    check_files(
        &[
            lib,
            ("crates/a/src/ledger.rs", "//! The ledger of a run."),
            ("crates/a/src/run/mod.rs", ""),
        ],
        &["doc-missing crates/a/src/lib.rs:2"],
    );
}
