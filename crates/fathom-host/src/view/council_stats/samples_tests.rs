//! Councils for tests.

use fathom_core::budget::amounts::Amounts;
use fathom_core::unit::{Millis, Nanodollars};
use fathom_programs::council::{CouncilReport, SeatReport};
use serde_json::{Value, json};

use super::{ComparisonKey, DecisionPaths, PastCouncil};

/// A seat that voted: `APPROVE 70`, or one that failed: `late`.
pub(crate) fn seat(name: &str, said: &str, children: &[SeatReport]) -> SeatReport {
    let mut seat = json!({
        "seat": name,
        "tokens": 100,
        "calls": 1,
        "reused_calls": 0,
        "elapsed": 1_000,
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
    serde_json::from_value(seat).unwrap()
}

/// Report of a council that decided `vote` (or nothing) at `depth`, with confidence and agreement in per cent.
pub(crate) fn report(
    vote: Option<&str>,
    (confidence, agreement): (u16, u16),
    depth: u8,
    votes: &[SeatReport],
) -> CouncilReport {
    let report = json!({
        "vote": vote,
        "confidence": confidence * 10,
        "agreement": agreement * 10,
        "tied": false,
        "partial": false,
        "dissent": [],
        "reasoning": "",
        "complexity": {"score": 2, "complex": true, "reasons": [], "domains": [], "seats": []},
        "votes": votes,
        "depth": depth,
        "spawns": 0,
        "reused_calls": 0,
        "elapsed": 0,
    });
    serde_json::from_value(report).unwrap()
}

/// A council on `question` that took so long and used so many calls, each of 100 tokens and a cent.
pub(crate) fn council(
    question: &str,
    report: CouncilReport,
    millis: u64,
    calls: u64,
) -> PastCouncil {
    PastCouncil {
        matter: ComparisonKey::new(question, "material".into(), ["main".into(), "sub".into()]),
        report,
        spent: used(calls),
        elapsed: Millis(millis),
        sides: None,
    }
}

pub(crate) fn used(calls: u64) -> Amounts {
    Amounts {
        tokens: calls * 100,
        calls,
        money: Nanodollars(calls * 10_000_000),
        ..Amounts::ZERO
    }
}

/// The same council, compared with what its chiefs alone would have decided.
pub(crate) fn compared(mut run: PastCouncil, alone: &str) -> PastCouncil {
    let alone: Value =
        json!({"vote": alone, "confidence": 600, "agreement": 500, "elapsed": 2_000});
    run.report.alone = Some(serde_json::from_value(alone).unwrap());
    run.sides = Some(DecisionPaths {
        without: used(3),
        with: run.spent.minus(used(3)),
    });
    run
}
