use super::*;

#[test]
fn a_ratio_has_one_decimal_and_may_be_of_nothing() {
    assert_eq!(Tenths::ratio(1, 3, 100).to_string(), "33.3");
    assert_eq!(Tenths::ratio(1, 2, 100).to_string(), "50");
    assert_eq!(Tenths::ratio(0, 0, 100).to_string(), "0");
}

#[test]
fn words_are_counted_by_their_capitals() {
    assert!(is_one_word("Budget"));
    assert!(is_one_word("T"));
    assert!(!is_one_word("BudgetPart"));
}

#[test]
fn names_are_counted_over_all_crates() {
    let tree = Tree::of(&[
        (
            "crates/a/src/lib.rs",
            "pub struct Shared;\npub struct Listed;\nstruct RunView;\nfn f() -> Result<(), String> {}",
        ),
        (
            "crates/b/src/lib.rs",
            "pub struct Shared;\npub struct Listed;\n/// The x.\nstruct RunId;",
        ),
        (type_names::SHARED_FILE, "Listed one of each crate\n"),
    ]);
    let figures: Vec<String> = all(&tree, &sources::parse_all(&tree))
        .unwrap()
        .iter()
        .take(5)
        .map(|figure| format!("{} {} {:?}", figure.name, figure.value, figure.details))
        .collect();
    assert_eq!(
        figures,
        [
            "shared-type-names 1 [\"Shared: 2 in a, b\"]",
            "repeated-type-percent 66.6 [\"Listed: 2 in a, b\", \"Shared: 2 in a, b\"]",
            "one-word-type-percent 66.6 [\"Listed: 2 in a, b\", \"Shared: 2 in a, b\"]",
            "string-errors 1 [\"crates/a/src/lib.rs:4: an error that is a `String`: give it a type\"]",
            "doc-fillers 1 [\"crates/b/src/lib.rs:3: `The x.` adds nothing: say more, or nothing\"]",
        ]
    );
}

#[test]
fn figures_are_asked_for_in_these_ways_only() {
    assert!(run(&["--chekc".to_owned()]).is_err());
}
