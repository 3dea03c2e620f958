use super::*;
use crate::view::run_tests::{Teller, after, at_work, finished, result, run_id};
use fathom_core::contract::stop::StopReason;
use fathom_core::episode::result::EpisodeStatus;

fn shown_run(story: &RunView) -> ShownState<'_> {
    ShownState {
        run: run_id(),
        short: "0199c2f4",
        story,
    }
}

fn text(lines: &[StyledLine]) -> String {
    let lines: Vec<String> = lines.iter().map(StyledLine::plain).collect();
    lines.join("\n")
}

#[test]
fn x01_a_frame_at_eighty_columns() {
    let moment = TreeTime::Live {
        now: after(3_200),
        frame: 3,
    };
    let story = at_work().story;
    let lines = frame(&[shown_run(&story)], 80, 24, moment);
    assert!(lines.iter().all(|line| line.columns() < 80));
    insta::assert_snapshot!(text(&lines));
}

#[test]
fn a_frame_is_never_higher_than_the_terminal() {
    let mut teller = Teller::asked("many");
    for child in 0..50 {
        teller.spawn(&format!("0.{child}"), "worker");
    }
    let moment = TreeTime::Live {
        now: after(500),
        frame: 0,
    };
    for height in [1, 2, 5, 10, 24, 60] {
        let lines = frame(
            &[shown_run(&teller.story), shown_run(&teller.story)],
            80,
            height,
            moment,
        );
        assert!(
            lines.len() < height.max(2),
            "{} rows in {height}",
            lines.len()
        );
    }
}

#[test]
fn x01_the_last_picture_names_budget_record_and_model() {
    insta::assert_snapshot!(text(&still(
        &shown_run(&finished().story),
        80,
        SeatDetail::Short
    )));
}

#[test]
fn e07_the_last_picture_says_what_is_asked_of_a_person() {
    let mut teller = Teller::asked("why?");
    teller.end(
        900,
        result(
            EpisodeStatus::NeedsReview,
            StopReason::ReviewFailed,
            None,
            10,
        ),
    );
    insta::assert_snapshot!(text(&still(
        &shown_run(&teller.story),
        60,
        SeatDetail::Short
    )));
}
