//! Councils as their runs left them.

use std::collections::BTreeMap;

use fathom_core::budget::amounts::Amounts;
use fathom_core::model::ModelRole;
use fathom_core::unit::Millis;
use fathom_programs::council::{CouncilReport, NAME, SeatReport, SynthesisMode};
use serde::Deserialize;

use crate::view::run::RunView;

/// Properties that two councils must share for their decisions to be compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ComparisonKey {
    /// The question, its white space made even.
    pub question: String,
    /// SHA-256 of the material; empty without material.
    pub material: String,
    /// The models: of the root, and of its children.
    pub models: [String; 2],
}

impl ComparisonKey {
    /// The key of a question, its material and the models that were asked.
    pub fn new(question: &str, material: String, models: [String; 2]) -> Self {
        // White space differs between a file and a prompt; the question is the same.
        let words: Vec<&str> = question.split_whitespace().collect();
        Self {
            question: words.join(" "),
            material,
            models,
        }
    }
}

/// A finished council.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastCouncil {
    pub matter: ComparisonKey,
    pub report: CouncilReport,
    pub spent: Amounts,
    /// The time it took, pauses left out.
    pub elapsed: Millis,
    /// Amounts of each way to the decision, if both were gone and can be told apart.
    pub sides: Option<DecisionPaths>,
}

/// Amounts of each way to a decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DecisionPaths {
    /// The chiefs by themselves.
    pub without: Amounts,
    /// The chiefs with their sub-chiefs.
    pub with: Amounts,
}

/// The parts of a council's parameters that matter here. Other builds may have others.
#[derive(Deserialize)]
struct TallyRules {
    #[serde(default)]
    material: String,
    #[serde(default)]
    synthesis: SynthesisMode,
}

impl PastCouncil {
    /// Reads a run; none if it is not a council, is not finished, or cannot be read any more.
    pub fn of(story: &RunView) -> Option<Self> {
        let root = story.root()?;
        let started = &root.started;
        if started.program.name != NAME {
            return None;
        }
        let result = root.result.as_ref()?;
        let report: CouncilReport = serde_json::from_str(result.report.as_ref()?.as_str()).ok()?;
        let rules: TallyRules = serde_json::from_str(started.program.params.as_str()).ok()?;
        let models = [ModelRole::Main, ModelRole::Sub];
        let models = models.map(|role| started.models.get(role).id.clone());
        let spent = result.budget.spent;
        Some(Self {
            matter: ComparisonKey::new(started.goal.as_str(), rules.material, models),
            sides: match rules.synthesis {
                SynthesisMode::Arithmetic => sides(story, &report, spent),
                // A chief's own calls are then its vote and the synthesis, in one sum.
                SynthesisMode::Model => None,
            },
            report,
            spent,
            elapsed: result.budget.time_spent,
        })
    }
}

/// Tells what the chiefs used for themselves from what they used for their sub-chiefs.
fn sides(story: &RunView, report: &CouncilReport, spent: Amounts) -> Option<DecisionPaths> {
    report.alone?;
    let mut sides = DecisionPaths {
        without: Amounts::ZERO,
        with: spent,
    };
    for chief in &report.votes {
        let own = own(story, chief)?;
        sides.without = sides.without.plus(own);
        // A vote that was cast only for the comparison is not part of the price of recursion.
        if chief.alone.is_some() {
            sides.with = sides.with.minus(own);
        }
    }
    Some(sides)
}

/// Amounts that a seat used without those it asked.
fn own(story: &RunView, seat: &SeatReport) -> Option<Amounts> {
    let episode = seat.episode.as_ref()?;
    let all = story.chapters.get(episode)?.spent;
    let below = story.children(episode).map(|(_, child)| child.spent);
    Some(all.minus(below.fold(Amounts::ZERO, Amounts::plus)))
}

/// Matters that were decided both without sub-chiefs and with them: the newest council of each kind. `runs` come the
/// newest first.
pub fn pairs<'a>(
    runs: impl IntoIterator<Item = &'a PastCouncil>,
) -> Vec<(&'a PastCouncil, &'a PastCouncil)> {
    let mut matters: BTreeMap<&ComparisonKey, [Option<&PastCouncil>; 2]> = BTreeMap::new();
    for run in runs {
        if run.report.vote.is_none() {
            continue;
        }
        let [without, with] = matters.entry(&run.matter).or_default();
        let newest = if run.report.depth == 0 { without } else { with };
        // The first one met is the newest, and one pair per question keeps often-asked ones from outweighing the rest.
        newest.get_or_insert(run);
    }
    let both = matters.into_values();
    both.filter_map(|[without, with]| without.zip(with))
        .collect()
}
