//! Examples from past councils: questions on which recursion changed the decision, and questions on which it did not.

use std::collections::BTreeMap;

use super::TrainingExample;
use crate::view::council_stats::{PastCouncil, pairs};

/// Collects examples from councils, which come the newest first.
///
/// A council that was compared with what its chiefs alone would have decided teaches by itself; else two councils on
/// the same matter do, one without sub-chiefs and one with them. Where someone's vote is missing, that may be why the
/// decisions differ, so nothing is learned from it. Each question counts once, as it came out last; the examples are in
/// the order of their questions.
pub fn examples(runs: &[PastCouncil]) -> Vec<TrainingExample> {
    let whole = || runs.iter().filter(|run| !run.report.partial);
    let compared = whole().filter_map(|run| {
        let changed = run.report.alone?.vote != run.report.vote?;
        Some((run, changed))
    });
    let paired = pairs(whole()).into_iter();
    let paired = paired.map(|(without, with)| (with, without.report.vote != with.report.vote));
    let mut examples: BTreeMap<&str, TrainingExample> = BTreeMap::new();
    for (run, changed) in compared.chain(paired) {
        let question = run.matter.question.as_str();
        examples.entry(question).or_insert_with(|| TrainingExample {
            features: run.report.complexity.features,
            changed,
        });
    }
    examples.into_values().collect()
}

#[cfg(test)]
#[path = "examples_tests.rs"]
mod tests;
