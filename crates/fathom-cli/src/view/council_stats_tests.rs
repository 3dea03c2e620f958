use super::*;
use crate::commands::stats::samples::{councils, runs};
use crate::terminal::plain_text::columns;

fn picture(councils: &CouncilStats, width: usize) -> String {
    let lines: Vec<String> = lines(councils, width)
        .iter()
        .map(StyledLine::plain)
        .collect();
    lines.join("\n")
}

#[test]
fn c07_c09_councils_are_read_in_80_columns() {
    insta::assert_snapshot!(picture(&councils("network"), 80));
}

#[test]
fn c09_no_line_is_wider_than_the_terminal() {
    let hostile = "\u{1b}[31mvery\nlong name of a seat 日本語 that never ends and goes on and on";
    for width in [40, 60, 80, 120] {
        let picture = picture(&councils(hostile), width);
        for line in picture.lines() {
            assert!(columns(line) <= width, "{width}: {line}");
        }
        assert!(!picture.contains('\u{1b}'));
        assert!(picture.contains("very"), "{picture}");
    }
}

#[test]
fn c07_what_was_not_compared_is_not_shown() {
    let flat = CouncilStats::of(&runs("network")[..3]).unwrap();
    let picture = picture(&flat, 80);
    assert!(picture.contains("depth 0"));
    assert!(!picture.contains("recursion"), "{picture}");
}
