//! Councils for tests.

use fathom_core::budget::amounts::Amounts;
use fathom_core::unit::{Millis, Nanodollars};
use fathom_host::view::council_stats::{ComparisonKey, CouncilStats, DecisionPaths, PastCouncil};
use fathom_programs::council::CouncilReport;
use serde_json::{Value, json};

fn seat(name: &str, said: &str, tokens: u64, children: &[Value]) -> Value {
    let mut seat = json!({
        "seat": name,
        "tokens": tokens,
        "calls": 1 + children.len(),
        "reused_calls": children.len() / 2,
        "elapsed": 1_400 + tokens,
        "children": children,
    });
    match said.split_once(' ') {
        Some((vote, percent)) => {
            let confidence = percent.parse::<u16>().unwrap() * 10;
            seat["cast"] = json!({"vote": vote, "confidence": confidence, "reasoning": "so"});
            seat["episode"] = json!("0.0");
        }
        None => seat["failure"] = json!({"kind": said}),
    }
    seat
}

fn council(question: &str, vote: Option<&str>, depth: u8, votes: &[Value]) -> PastCouncil {
    let deep = u64::from(depth);
    let report = json!({
        "vote": vote,
        "confidence": 700 + 40 * deep,
        "agreement": 900 - 80 * deep,
        "tied": false,
        "partial": false,
        "dissent": [],
        "reasoning": "",
        "complexity": {"score": 2, "complex": true, "reasons": [], "domains": [], "seats": []},
        "votes": votes,
        "depth": depth,
        "spawns": 5 * deep,
        "reused_calls": 2 * deep,
        "elapsed": 0,
    });
    PastCouncil {
        matter: ComparisonKey::new(question, String::new(), ["main".into(), "sub".into()]),
        report: serde_json::from_value::<CouncilReport>(report).unwrap(),
        spent: spent(3 + 6 * deep),
        elapsed: Millis(3_900 + 8_400 * deep + 37 * question.len() as u64),
        sides: None,
    }
}

fn spent(calls: u64) -> Amounts {
    Amounts {
        tokens: calls * 430,
        calls,
        money: Nanodollars(calls * 310_000),
        ..Amounts::ZERO
    }
}

fn compared(mut run: PastCouncil, alone: &str) -> PastCouncil {
    let alone = json!({"vote": alone, "confidence": 640, "agreement": 660, "elapsed": 4_100});
    run.report.alone = Some(serde_json::from_value(alone).unwrap());
    run.sides = Some(DecisionPaths {
        without: spent(3),
        with: run.spent.minus(spent(3)),
    });
    run
}

/// Chiefs that vote by themselves.
fn chiefs(it: &str, ops: &str) -> Vec<Value> {
    vec![
        seat("IT", it, 410, &[]),
        seat("Data", "APPROVE 81", 430, &[]),
        seat("Ops", ops, 390, &[]),
    ]
}

/// Chiefs with sub-chiefs; the name of one of them is given.
fn panel(it: &str, security: &str, third: &str) -> Vec<Value> {
    let below = [
        seat("security", security, 520, &[]),
        seat("infrastructure", "APPROVE 80", 480, &[]),
        seat(third, "APPROVE 75", 510, &[]),
    ];
    vec![
        seat("IT", it, 2_140, &below),
        seat(
            "Data",
            "APPROVE 81",
            930,
            &[seat("schema", "APPROVE 81", 500, &[])],
        ),
        seat("Ops", "late", 0, &[]),
    ]
}

/// Eight councils of depths 0 to 2, with a sub-chief of the given name.
pub(crate) fn runs(third: &str) -> Vec<PastCouncil> {
    let yes = Some("APPROVE");
    vec![
        council("move it?", yes, 0, &chiefs("APPROVE 78", "APPROVE 60")),
        council(
            "index it?",
            Some("REJECT"),
            0,
            &chiefs("REJECT 90", "REJECT 85"),
        ),
        council("quiet", None, 0, &[seat("IT", "late", 0, &[])]),
        council(
            "move it?",
            Some("REJECT"),
            1,
            &panel("REJECT 66", "REJECT 90", third),
        ),
        compared(
            council("a", yes, 1, &panel("APPROVE 70", "REJECT 60", third)),
            "REJECT",
        ),
        compared(
            council("bb", yes, 1, &panel("APPROVE 72", "APPROVE 60", third)),
            "APPROVE",
        ),
        council(
            "ccc",
            Some("ABSTAIN"),
            1,
            &panel("ABSTAIN 50", "REJECT 55", third),
        ),
        council("dddd", yes, 2, &panel("APPROVE 88", "APPROVE 77", third)),
    ]
}

pub(crate) fn councils(third: &str) -> CouncilStats {
    CouncilStats::of(&runs(third)).unwrap()
}
