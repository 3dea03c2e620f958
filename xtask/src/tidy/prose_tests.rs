use super::*;
use crate::finding::printed;

const WHOLE: &str =
    "# One\n\n## Context\n\n## Options measured\n\n## Choice\n\n## What would change our mind\n";

#[test]
fn a_whole_decision_is_fine() {
    assert!(check("docs/decisions/0001-one.md", WHOLE).is_empty());
}

#[test]
fn each_missing_heading_is_found() {
    for (heading, line) in [
        ("Context", "## Context\n"),
        ("Options", "## Options measured\n"),
        ("Choice", "## Choice\n"),
        (
            "What would change our mind",
            "## What would change our mind\n",
        ),
    ] {
        assert_eq!(
            printed(&check(
                "docs/decisions/0001-one.md",
                &WHOLE.replace(line, "text\n")
            )),
            [format!(
                "docs/decisions/0001-one.md:1: the heading `{heading}` is missing"
            )]
        );
    }
}

#[test]
fn other_pages_have_the_headings_they_like() {
    assert!(check("docs/guide.md", "# Guide").is_empty());
    assert!(check("docs/decisions/README.md", "# Decisions").is_empty());
}
