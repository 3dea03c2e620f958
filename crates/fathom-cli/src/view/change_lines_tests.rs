use super::*;
use crate::view::run_tests::{Teller, after, at_work, result};
use fathom_core::contract::stop::StopReason;
use fathom_core::episode::result::EpisodeStatus;

#[test]
fn x01_plain_lines_tell_each_change_once() {
    let mut changes = ChangePrinter::default();
    let mut told = Vec::new();
    let mut look = |teller: &Teller, at| {
        told.extend(changes.since_last("0199c2f4", &teller.story, after(at)));
    };
    let mut teller = Teller::asked("why?");
    look(&teller, 130);
    look(&teller, 140);
    teller.retry("0", 1, 200, 1_000);
    look(&teller, 200);
    look(&teller, 300);
    teller.reply("0", 1, 1_400, "because", vec![]);
    teller.spawn("0.0", "critique");
    look(&teller, 1_500);
    let done = result(EpisodeStatus::Ok, StopReason::Success, Some("PASS"), 900);
    teller.end_child("0.0", 1_900, done);
    let review = result(
        EpisodeStatus::NeedsReview,
        StopReason::ReviewFailed,
        None,
        2_000,
    );
    teller.end(2_000, review);
    look(&teller, 2_000);
    look(&teller, 2_100);
    insta::assert_snapshot!(told.join("\n"), @r"
    0199c2f4  started direct with openai/qwen3-32b
    0199c2f4  retry 2 in 0.8 s (rate limited)
    0199c2f4 0.0  started critique with script/answers.jsonl
    0199c2f4  finished needs_review: review failed  2.0k tokens  $0.0013  2.0 s
    0199c2f4 0.0  finished ok  900 tokens  $0.0013  1.8 s
    ");
}

#[test]
fn a_retry_that_is_over_before_it_was_seen_is_told_all_the_same() {
    let mut teller = at_work();
    teller.retry("0.0", 1, 3_100, 3_200);
    teller.hear("0.0", 1, 3_300, "again");
    let told = ChangePrinter::default().since_last("x", &teller.story, after(3_300));
    assert!(
        told.iter().any(|line| line.ends_with("0.0  retried")),
        "{told:?}"
    );
}
