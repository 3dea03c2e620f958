use fathom_core::unit::{Millis, Nanodollars};
use serde_json::json;

use super::samples::{compared, council, report, seat};
use super::*;

fn milli(number: u16) -> Option<PerMille> {
    PerMille::new(number).ok()
}

/// Three councils without sub-chiefs, the last of them without any vote.
fn flat() -> Vec<PastCouncil> {
    vec![
        council("a", report(Some("APPROVE"), (80, 100), 0, &[]), 1_000, 3),
        council("b", report(Some("REJECT"), (60, 70), 0, &[]), 2_000, 3),
        council("c", report(None, (0, 0), 0, &[]), 6_000, 0),
    ]
}

fn deep(question: &str, vote: &str, depth: u8) -> PastCouncil {
    let mut run = council(question, report(Some(vote), (70, 60), depth, &[]), 9_000, 9);
    run.report.spawns = 6;
    run.report.reused_calls = 3;
    run
}

#[test]
fn c09_without_councils_there_are_no_figures() {
    assert_eq!(CouncilStats::of(&[]), None);
}

#[test]
fn c07_councils_are_told_apart_by_the_depth_they_reached() {
    let mut runs = flat();
    runs.push(deep("d", "ABSTAIN", 2));
    runs.push(deep("e", "APPROVE", 1));
    runs.push(deep("f", "APPROVE", 1));
    let figures = CouncilStats::of(&runs).unwrap();
    let depths: Vec<(u8, u64)> = figures
        .by_depth
        .iter()
        .map(|row| (row.depth, row.decided.runs))
        .collect();
    assert_eq!(figures.runs, 6);
    assert_eq!(depths, [(0, 3), (1, 2), (2, 1)]);
}

#[test]
fn c09_decisions_time_use_confidence_and_agreement_add_up() {
    let figures = CouncilStats::of(&flat()).unwrap();
    let decided = &figures.by_depth[0].decided;
    let decisions = decided.decisions;
    assert_eq!(
        [
            decisions.approve,
            decisions.reject,
            decisions.abstain,
            decisions.none
        ],
        [1, 1, 0, 1]
    );
    assert_eq!(decided.latency_ms.mean, Some(Millis(3_000)));
    assert_eq!(decided.latency_ms.p50, Some(Millis(2_000)));
    let used = decided.used.unwrap();
    assert_eq!((used.calls, used.tokens), (6, 600));
    assert_eq!(used.cost, Nanodollars(60_000_000));
    assert_eq!((used.calls_mean, used.tokens_mean), (2.0, 200));
    assert_eq!(used.cost_mean, Nanodollars(20_000_000));
    // The one that decided nothing was neither sure nor in agreement.
    assert_eq!(decided.confidence, milli(700));
    assert_eq!(decided.agreement, milli(850));
}

#[test]
fn c09_spawns_and_reused_calls_are_counted_by_depth() {
    let figures = CouncilStats::of(&[deep("a", "APPROVE", 1), deep("b", "REJECT", 1)]).unwrap();
    let row = &figures.by_depth[0];
    assert_eq!((row.spawns, row.spawns_mean), (12, 6.0));
    // 6 of 24 calls were not made: 18 were.
    assert_eq!((row.reused_calls, row.reused_share), (6, milli(250)));
}

#[test]
fn c07_recursion_that_changes_a_decision_is_counted_within_a_run() {
    let runs = [
        compared(deep("a", "APPROVE", 1), "REJECT"),
        compared(deep("b", "APPROVE", 1), "APPROVE"),
        compared(deep("c", "REJECT", 2), "ABSTAIN"),
        deep("d", "REJECT", 1),
    ];
    let same_run = CouncilStats::of(&runs).unwrap().compared.same_run;
    assert_eq!((same_run.compared, same_run.changed), (3, 2));
    assert_eq!(same_run.changed_share, milli(667));
    assert_eq!(same_run.without.decisions.approve, 1);
    assert_eq!(same_run.with.decisions.approve, 2);
    assert_eq!(same_run.without.latency_ms.mean, Some(Millis(2_000)));
    assert_eq!(same_run.with.latency_ms.mean, Some(Millis(9_000)));
    // What the comparison itself took is no part of either.
    assert_eq!(same_run.without.used.unwrap().calls, 9);
    assert_eq!(same_run.with.used.unwrap().calls, 18);
}

#[test]
fn c07_a_comparison_whose_use_cannot_be_told_apart_says_so() {
    let mut run = compared(deep("a", "APPROVE", 1), "REJECT");
    run.sides = None;
    let same_run = CouncilStats::of(&[run]).unwrap().compared.same_run;
    assert_eq!((same_run.compared, same_run.changed), (1, 1));
    assert_eq!((same_run.without.used, same_run.with.used), (None, None));
}

#[test]
fn c07_runs_on_the_same_matter_are_compared_the_newest_of_each_kind() {
    let flat =
        |question: &str, vote| council(question, report(Some(vote), (70, 60), 0, &[]), 1_000, 3);
    let mut other_material = flat("b", "REJECT");
    other_material.matter.material = "other".into();
    let mut other_model = flat("c", "REJECT");
    other_model.matter.models = ["other".into(), "sub".into()];
    let runs = [
        deep("  a\n question ", "APPROVE", 1),
        flat("a question", "REJECT"),
        flat("a question", "APPROVE"),
        deep("b", "APPROVE", 1),
        other_material,
        deep("c", "APPROVE", 1),
        other_model,
        deep("d", "APPROVE", 3),
        flat("d", "APPROVE"),
    ];
    let compared = CouncilStats::of(&runs).unwrap().compared;
    let pairs = compared.same_question;
    assert_eq!((pairs.compared, pairs.changed), (2, 1));
    assert_eq!(pairs.without.latency_ms.mean, Some(Millis(1_000)));
    assert_eq!(pairs.with.latency_ms.mean, Some(Millis(9_000)));
    assert_eq!(compared.all_runs.without.runs, 5);
    assert_eq!(compared.all_runs.with.runs, 4);
}

#[test]
fn c09_each_seat_has_its_own_figures() {
    let votes = |security: &str, it: &str| {
        let below = [
            seat("security", security, &[]),
            seat("network", "late", &[]),
        ];
        let mut chief = seat("IT", it, &below);
        chief.agreement = milli(750);
        chief.reused_calls = 1;
        vec![seat("Data", "APPROVE 90", &[]), chief]
    };
    let run = |security, it| {
        let report = report(Some("APPROVE"), (80, 100), 1, &votes(security, it));
        council("q", report, 1_000, 4)
    };
    let runs = [
        run("REJECT 60", "REJECT 60"),
        run("APPROVE 80", "ABSTAIN 40"),
    ];
    let chiefs = CouncilStats::of(&runs).unwrap().chiefs;
    let paths: Vec<(&str, usize)> = chiefs
        .iter()
        .map(|seat| (seat.seat.as_str(), seat.depth))
        .collect();
    assert_eq!(
        paths,
        [
            ("Data", 0),
            ("IT", 0),
            ("IT/network", 1),
            ("IT/security", 1)
        ]
    );
    let [data, it, network, security] = &chiefs[..] else {
        panic!("four seats");
    };
    assert_eq!((data.votes.approve, data.agreement), (2, milli(1000)));
    assert_eq!((it.votes.reject, it.votes.abstain), (1, 1));
    assert_eq!((it.dissents, it.agreement), (2, milli(0)));
    assert_eq!(it.confidence, milli(500));
    assert_eq!((it.agreement_below, it.reused_calls), (milli(750), 2));
    assert_eq!(
        (it.latency_ms_mean, it.tokens_mean),
        (Some(Millis(1_000)), Some(100))
    );
    // A seat without a vote has failed, and nothing else is known of it.
    assert_eq!((network.failures, network.asked), (2, 0));
    assert_eq!((network.confidence, network.agreement), (None, None));
    assert_eq!(network.latency_ms_mean, None);
    assert_eq!((security.dissents, security.agreement), (1, milli(500)));
}

#[test]
fn c09_figures_as_json_hold_shares_between_0_and_1_and_dollars() {
    let run = compared(deep("a", "APPROVE", 1), "REJECT");
    let figures = serde_json::to_value(CouncilStats::of(&[run]).unwrap()).unwrap();
    let row = &figures["by_depth"][0];
    assert_eq!(row["depth"], 1);
    assert_eq!(
        row["decisions"],
        json!({"approve": 1, "reject": 0, "abstain": 0, "none": 0})
    );
    assert_eq!(row["latency_ms"], json!({"mean": 9_000, "p50": 9_000}));
    assert_eq!(row["used"]["cost"], 0.09);
    assert_eq!(row["confidence"], 0.7);
    assert_eq!(row["reused_share"], 0.25);
    assert_eq!(figures["compared"]["same_run"]["changed_share"], 1.0);
    assert_eq!(
        figures["compared"]["same_question"]["changed_share"],
        json!(null)
    );
    assert_eq!(
        figures["compared"]["all_runs"]["without"]["used"],
        json!(null)
    );
}
