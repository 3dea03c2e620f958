use super::*;
use crate::finding::printed;

#[track_caller]
fn check_files(files: &[(&str, &str)], expected: &[&str]) {
    assert_eq!(printed(&check(&Tree::of(files))), expected);
}

#[test]
fn a_code_and_its_page_belong_together() {
    check_files(
        &[
            (
                "crates/a/src/error.rs",
                "const A: &str = \"F0101\";\nenum Code { F0202 }",
            ),
            ("docs/errors/F0101.md", "# F0101"),
            ("docs/errors/F0202.md", "# F0202"),
            ("docs/errors/README.md", "# Errors"),
        ],
        &[],
    );
}

#[test]
fn a_code_without_a_page_is_found_once() {
    check_files(
        &[("crates/a/src/error.rs", "\n\"F0101\"\n\"F0101\"")],
        &["crates/a/src/error.rs:2: `F0101` has no page docs/errors/F0101.md"],
    );
}

#[test]
fn a_page_without_a_code_is_found() {
    check_files(
        &[
            ("docs/errors/F0101.md", "# F0101"),
            ("docs/errors/other.md", ""),
        ],
        &[
            "docs/errors/F0101.md:1: no source knows the code `F0101`",
            "docs/errors/other.md:1: no source knows the code `other`",
        ],
    );
}

#[test]
fn what_only_looks_like_a_code_is_none() {
    check_files(
        &[
            (
                "crates/a/src/a.rs",
                r#"0xF1234; "F12345"; "AF1234"; '\u{F0000}'"#,
            ),
            ("crates/a/src/a_tests.rs", "\"F9999\""),
            ("crates/a/tests/it/a.rs", "\"F9999\""),
            ("xtask/src/a.rs", "\"F9999\""),
        ],
        &[],
    );
}
