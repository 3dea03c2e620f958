use super::*;
use crate::view::run_tests::{Teller, after, at_work, finished, forest, result};
use fathom_core::contract::stop::StopReason;

fn drawn(story: &RunView, columns: usize, moment: TreeTime) -> String {
    let view = TreeView {
        columns,
        episodes_max: EPISODES_SHOWN_MAX,
        moment,
    };
    let lines = lines(story, &view);
    for line in &lines {
        assert!(
            line.columns() <= columns,
            "{} columns: {}",
            line.columns(),
            line.plain()
        );
    }
    let lines: Vec<String> = lines.iter().map(StyledLine::plain).collect();
    lines.join("\n")
}

/// One story at three widths, live and at rest.
fn at_all_widths(story: &RunView) -> String {
    let live = TreeTime::Live {
        now: after(2_000),
        frame: 2,
    };
    let mut pictures = Vec::new();
    for columns in [40, 80, 120] {
        for (name, moment) in [("live", live), ("at rest", TreeTime::Rest)] {
            let drawn = drawn(story, columns, moment);
            pictures.push(format!("-- {columns} columns, {name}\n{drawn}"));
        }
    }
    pictures.join("\n")
}

#[test]
fn x01_the_tree_of_a_run_at_work() {
    insta::assert_snapshot!(at_all_widths(&at_work().story));
}

#[test]
fn x01_the_tree_of_a_finished_run() {
    insta::assert_snapshot!(at_all_widths(&finished().story));
}

#[test]
fn x01_the_tree_of_children_in_every_state() {
    insta::assert_snapshot!(at_all_widths(&forest().story));
}

#[test]
fn x01_many_episodes_show_those_at_work_and_count_the_rest() {
    let mut teller = Teller::asked("many");
    for child in 0..60 {
        let id = format!("0.{child}");
        teller.spawn(&id, "worker");
        teller.call(&id, 1, 200);
        if child < 30 {
            let done = result(EpisodeStatus::Ok, StopReason::Success, None, 10);
            teller.end_child(&id, 300, done);
        }
    }
    let live = TreeTime::Live {
        now: after(400),
        frame: 0,
    };
    let picture = drawn(&teller.story, 80, live);
    assert_eq!(picture.lines().count(), 1 + EPISODES_SHOWN_MAX + 1);
    assert!(picture.ends_with("… and 41 more"), "{picture}");
    let busy = picture
        .lines()
        .filter(|line| line.contains("worker") && line.contains("calling 1"));
    assert_eq!(busy.count(), EPISODES_SHOWN_MAX - 1);
}

#[test]
fn x05_a_run_that_waits_says_for_what() {
    let mut teller = Teller::asked("why?");
    teller.outage(300);
    let waiting = drawn(&teller.story, 80, TreeTime::Rest);
    assert!(
        waiting.contains("model unreachable: connection lost: nobody listens"),
        "{waiting}"
    );
    teller.release(400, ReleaseReason::Outage);
    assert!(drawn(&teller.story, 80, TreeTime::Rest).contains("direct  model unreachable "));
    teller.release(500, ReleaseReason::AwaitingApproval);
    assert!(drawn(&teller.story, 80, TreeTime::Rest).contains("direct  awaiting approval"));
}

#[test]
fn x08_a_story_without_a_root_has_no_tree() {
    assert_eq!(drawn(&RunView::default(), 80, TreeTime::Rest), "");
}
