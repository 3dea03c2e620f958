use super::*;
use crate::view::run_tests::{after, at_work, finished};

#[test]
fn e06_the_budget_in_bars_fits_every_width() {
    let moment = TreeTime::Live {
        now: after(250_000),
        frame: 0,
    };
    let used = of(&at_work().story, moment).unwrap();
    let mut pictures = Vec::new();
    for width in [40, 60, 80, 120] {
        let line = bars(&used, width);
        assert!(line.columns() <= width, "{}", line.plain());
        pictures.push(line.plain());
    }
    insta::assert_snapshot!(pictures.join("\n"));
}

#[test]
fn e06_the_budget_in_words_wraps_between_dimensions() {
    let used = of(&finished().story, TreeTime::Rest).unwrap();
    let mut pictures = Vec::new();
    for width in [40, 80, 120] {
        for line in words(&used, width) {
            assert!(line.columns() <= width, "{}", line.plain());
            pictures.push(line.plain());
        }
    }
    insta::assert_snapshot!(pictures.join("\n"));
}

#[test]
fn a_dimension_of_nothing_is_full() {
    let mut used = of(&finished().story, TreeTime::Rest).unwrap();
    used.limit.calls = 0;
    assert!(bars(&used, 120).plain().contains("calls ▰▰▰▰▰▰▰▰ 2/0"));
}
