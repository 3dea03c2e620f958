use super::*;
use crate::finding::printed;

const TEXT: &str =
    "# comment\n\nstring-errors at-most 10 goal 0\nwhy-comments at-least 6.5 goal 15\n";

fn figure(name: &str, tenths: u64) -> Figure {
    Figure {
        name: name.to_owned(),
        value: Tenths(tenths),
        step: Tenths(5),
        about: "",
        details: Vec::new(),
    }
}

fn judged(figures: &[Figure]) -> Vec<String> {
    printed(&Ceilings::parse(TEXT).unwrap().judge(figures, TEXT))
}

#[test]
fn a_figure_at_its_limit_is_fine() {
    let figures = [figure("string-errors", 100), figure("why-comments", 65)];
    assert_eq!(judged(&figures), Vec::<String>::new());
}

#[test]
fn a_figure_beyond_its_limit_is_found() {
    let figures = [figure("string-errors", 101), figure("why-comments", 64)];
    assert_eq!(
        judged(&figures),
        [
            "xtask/ceilings.txt:3: `string-errors` is 10.1, the limit is at most 10; `cargo xtask figures -v` shows what was counted",
            "xtask/ceilings.txt:4: `why-comments` is 6.4, the limit is at least 6.5; `cargo xtask figures -v` shows what was counted",
        ]
    );
}

#[test]
fn figures_and_limits_belong_together() {
    let figures = [figure("string-errors", 0), figure("code-lines", 0)];
    assert_eq!(
        judged(&figures),
        [
            "xtask/ceilings.txt:1: `code-lines` is 0 and has no limit; run `cargo xtask figures --write-ceilings`",
            "xtask/ceilings.txt:4: there is no figure `why-comments`; remove the line",
        ]
    );
}

#[test]
fn limits_are_only_tightened_and_keep_their_reasons() {
    let written = |figures: &[Figure]| {
        let ceilings = Ceilings::parse(TEXT).unwrap();
        let text = ceilings.updated(figures, Direction::Down).render();
        text.strip_prefix(INTRODUCTION).unwrap().to_owned()
    };
    let worse = [figure("string-errors", 200), figure("why-comments", 10)];
    assert_eq!(
        written(&worse),
        "\nstring-errors at-most 10 goal 0\nwhy-comments at-least 6.5 goal 15\n"
    );
    let better = [
        figure("string-errors", 72),
        figure("why-comments", 93),
        figure("why-comments/a", 21),
    ];
    assert_eq!(
        written(&better),
        "\nstring-errors at-most 7.5 goal 0\nwhy-comments at-least 9 goal 15\nwhy-comments/a at-least 2 Goal 15; this is where it was when it was first counted.\n"
    );
}

#[test]
fn a_bad_line_is_named() {
    for line in [
        "a",
        "a at-most",
        "a at-most 1",
        "a at 1 x",
        "a at-most 1.25 x",
        "a at-most -1 x",
    ] {
        assert_eq!(
            Ceilings::parse(line).unwrap_err().to_string(),
            "xtask/ceilings.txt, line 1: expected `name at-most|at-least number reason`",
            "{line}"
        );
    }
    assert!(Ceilings::parse("a at-most 1 x\na at-most 2 y\n").is_err());
}

#[test]
fn limits_of_crates_alone_can_be_loosened() {
    let text = "why-comments at-least 6.5 goal 15\nwhy-comments/a at-least 8 goal 15\n";
    let ceilings = Ceilings::parse(text).unwrap();
    let figures = [figure("why-comments", 50), figure("why-comments/a", 31)];
    let written = ceilings.updated(&figures, Direction::Any).render();
    assert_eq!(
        written.strip_prefix(INTRODUCTION).unwrap(),
        "\nwhy-comments at-least 6.5 goal 15\nwhy-comments/a at-least 3 goal 15\n"
    );
}
