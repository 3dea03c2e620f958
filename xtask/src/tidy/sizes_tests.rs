use super::*;
use crate::finding::printed;

#[track_caller]
fn check(path: &str, lines: usize, expected: &[&str]) {
    assert_eq!(printed(&check_lines(path, &"x\n".repeat(lines))), expected);
}

#[test]
fn a_source_file_has_at_most_500_lines() {
    check("crates/a/src/lib.rs", 500, &[]);
    check(
        "crates/a/src/lib.rs",
        501,
        &["crates/a/src/lib.rs:501: 501 lines, the limit is 500: split it by what it is about"],
    );
}

#[test]
fn python_is_source_too() {
    check("crates/a/src/session.py", 500, &[]);
    assert_eq!(
        check_lines("crates/a/src/session.py", &"x\n".repeat(501)).len(),
        1
    );
}

#[test]
fn a_test_file_has_at_most_900_lines() {
    for path in [
        "crates/a/src/ledger_tests.rs",
        "crates/a/tests/it/main.rs",
        "crates/a/benches/fold.rs",
    ] {
        check(path, 900, &[]);
        assert_eq!(check_lines(path, &"x\n".repeat(901)).len(), 1, "{path}");
    }
}

#[test]
fn a_folder_that_only_looks_like_tests_is_source() {
    assert_eq!(
        check_lines("crates/a/src/latests/a.rs", &"x\n".repeat(501)).len(),
        1
    );
}

#[test]
fn architecture_has_at_most_300_lines_and_other_prose_any() {
    check("docs/dev/architecture.md", 300, &[]);
    assert_eq!(
        check_lines("docs/dev/architecture.md", &"x\n".repeat(301)).len(),
        1
    );
    check("docs/guide.md", 2000, &[]);
}

#[test]
fn a_file_has_at_most_a_mebibyte() {
    assert!(check_bytes("a.bin", 1_048_576).is_empty());
    assert_eq!(
        printed(&check_bytes("a.bin", 1_048_577)),
        ["a.bin:1: 1048577 bytes, the limit is 1048576: fetch it in set-up instead"]
    );
}
