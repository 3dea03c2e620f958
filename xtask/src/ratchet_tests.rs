use super::*;
use crate::finding::printed;

const TEXT: &str = "# comment\n\n[names]\na 2\nb 1\n\n[shapes]\na 30\n";

fn violations(check: &'static str, key: &str, count: usize) -> Vec<Violation> {
    (1..=count)
        .map(|line| Violation::new(check, key, Finding::new("x.rs", line, "bad")))
        .collect()
}

fn judged(found: &[Violation]) -> Vec<String> {
    printed(&Ratchets::parse(TEXT).unwrap().judge(found, TEXT))
}

fn as_allowed() -> Vec<Violation> {
    let mut found = violations("names", "a", 2);
    found.extend(violations("names", "b", 1));
    found.extend(violations("shapes", "a", 30));
    found
}

#[test]
fn what_is_allowed_is_no_finding() {
    assert_eq!(judged(&as_allowed()), Vec::<String>::new());
}

#[test]
fn one_more_is_told_with_its_places() {
    let mut found = as_allowed();
    found.extend(violations("names", "b", 1));
    found.extend(violations("names", "new", 1));
    assert_eq!(
        judged(&found),
        [
            "xtask/ratchets.txt:5: [names] b: 2 found, 1 allowed; `cargo xtask tidy --show names b` lists them",
            "x.rs:1: bad",
            "x.rs:1: bad",
            "x.rs:1: bad",
        ]
    );
}

#[test]
fn many_are_summed_up() {
    let mut found = as_allowed();
    found.extend(violations("shapes", "a", 1));
    let found = judged(&found);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("xtask/ratchets.txt:8: [shapes] a: 31 found"),
        "{found:?}"
    );
}

#[test]
fn an_entry_that_is_too_high_is_found() {
    let mut found = as_allowed();
    found.remove(2);
    assert_eq!(
        judged(&found),
        [
            "xtask/ratchets.txt:5: [names] b: 1 are allowed and 0 are left; run `cargo xtask tidy --write-ratchets`"
        ]
    );
}

#[test]
fn written_numbers_go_down_only() {
    let ratchets = Ratchets::parse(TEXT).unwrap();
    let mut found = violations("names", "a", 5);
    found.extend(violations("names", "new", 1));
    found.extend(violations("shapes", "a", 7));
    let text = |direction| {
        let text = ratchets.updated(&found, direction).render();
        text.strip_prefix(INTRODUCTION).unwrap().to_owned()
    };
    assert_eq!(text(Direction::Down), "\n[names]\na 2\n\n[shapes]\na 7\n");
    assert_eq!(
        text(Direction::Any),
        "\n[names]\na 5\nnew 1\n\n[shapes]\na 7\n"
    );
}

#[test]
fn what_is_written_is_read_again() {
    let ratchets = Ratchets::parse(TEXT).unwrap();
    assert_eq!(Ratchets::parse(&ratchets.render()).unwrap(), ratchets);
    assert_eq!(ratchets.totals()["names"], 3);
}

#[test]
fn a_bad_line_is_named() {
    let message = |text| Ratchets::parse(text).unwrap_err().to_string();
    assert_eq!(
        message("a 1\n"),
        "xtask/ratchets.txt, line 1: a line before any heading"
    );
    assert_eq!(
        message("[names]\na one\n"),
        "xtask/ratchets.txt, line 2: expected `key number`, found `a one`"
    );
}
