use super::*;
use crate::finding::printed;

fn found(file: &str, made: &str) -> Vec<String> {
    printed(&Vec::from_iter(difference("docs/x.md", file, made, "x")))
}

#[test]
fn a_current_file_has_no_difference() {
    assert_eq!(found("a\nb\n", "a\nb\n"), Vec::<String>::new());
}

#[test]
fn a_stale_file_is_found_at_its_first_line() {
    let expected = |line| {
        [format!(
            "docs/x.md:{line}: out of date: run `cargo xtask x`"
        )]
    };
    assert_eq!(found("", "a\nb\n"), expected(1));
    assert_eq!(found("a\nc\n", "a\nb\n"), expected(2));
    assert_eq!(found("a\nb\nc\n", "a\nb\n"), expected(3));
    assert_eq!(found("a\nb", "a\nb\n"), expected(3));
}
