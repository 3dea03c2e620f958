use super::*;
use crate::view::council_stats::samples::{compared, council, report};

/// A council on `question`; its score is what the example is known by.
fn run(question: &str, vote: &str, depth: u8, score: u32) -> PastCouncil {
    let mut report = report(Some(vote), (70, 60), depth, &[]);
    report.complexity.features.score = score;
    council(question, report, 1_000, 3)
}

fn learned(runs: &[PastCouncil]) -> Vec<(u32, bool)> {
    let examples = examples(runs).into_iter();
    examples
        .map(|example| (example.features.score, example.changed))
        .collect()
}

#[test]
fn c10_a_compared_run_teaches_whether_recursion_changed_the_decision() {
    let runs = [
        compared(run("a", "APPROVE", 1, 1), "REJECT"),
        compared(run("b", "APPROVE", 2, 2), "APPROVE"),
        run("c", "APPROVE", 1, 3),
    ];
    assert_eq!(learned(&runs), [(1, true), (2, false)]);
}

#[test]
fn c10_two_runs_on_the_same_matter_teach_it_too() {
    let mut elsewhere = run("c", "REJECT", 0, 6);
    elsewhere.matter.material = "other".into();
    let runs = [
        run("a", "APPROVE", 1, 1),
        run("a", "REJECT", 0, 2),
        run("b", "APPROVE", 0, 3),
        run("b", "APPROVE", 3, 4),
        run("c", "APPROVE", 1, 5),
        elsewhere,
    ];
    // What the detector said is taken from the run with sub-chiefs.
    assert_eq!(learned(&runs), [(1, true), (4, false)]);
}

#[test]
fn c10_each_question_counts_once_as_it_came_out_last() {
    let runs = [
        run("a", "APPROVE", 0, 9),
        compared(run(" a ", "APPROVE", 1, 1), "REJECT"),
        compared(run("a", "APPROVE", 1, 2), "APPROVE"),
        run("a", "APPROVE", 1, 3),
    ];
    assert_eq!(learned(&runs), [(1, true)]);
}

#[test]
fn c10_a_decision_without_all_its_votes_teaches_nothing() {
    let partial = |mut run: PastCouncil| {
        run.report.partial = true;
        run
    };
    let mut undecided = compared(run("c", "APPROVE", 1, 3), "REJECT");
    undecided.report.vote = None;
    let runs = [
        partial(compared(run("a", "APPROVE", 1, 1), "REJECT")),
        run("b", "APPROVE", 1, 2),
        partial(run("b", "REJECT", 0, 2)),
        undecided,
    ];
    assert_eq!(learned(&runs), []);
}
