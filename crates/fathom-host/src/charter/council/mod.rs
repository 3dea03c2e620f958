//! `[council]`: who votes, by which rules, and how a complex question is recognised.

mod ballot_rules;
mod budget_check;
mod detector;
mod seats;

use std::ops::{Range, RangeInclusive};

use fathom_core::model::ModelSpec;
use fathom_programs::council::complexity::{DetectorConfig, LearnedRule};
use fathom_programs::council::{CouncilConfig, CouncilSeat};
use serde::{Deserialize, Serialize};
use toml::Spanned;

pub use ballot_rules::BallotRules;
pub(super) use budget_check::RunBounds;

use super::findings::FindingList;
use super::problem::CharterProblem;
use super::strict_toml::{CharterSource, DroppedKeys};
use ballot_rules::{ConfidenceTable, ReuseTable, WordOr};
use detector::DetectorTable;
use seats::SeatTable;

/// The file that holds what was learned from past councils.
pub const LEARNED_FILE: &str = "learned.toml";

/// Method to recognise a complex question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ComplexityJudge {
    /// The detector's signals.
    Signals,
    /// A rule learned from past councils.
    Learned,
}

/// A council as a charter describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CouncilCharter {
    /// Voting rules for models on servers.
    pub remote: BallotRules,
    /// Voting rules for the model in this process.
    pub local: BallotRules,
    /// Settings of the complexity detector.
    pub detector: DetectorConfig,
    /// Method that decides about complexity.
    pub judge: ComplexityJudge,
    /// The chiefs, with those they may ask below them.
    pub chiefs: Vec<CouncilSeat>,
}

/// Location of the voters' model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelProfile {
    /// In this process.
    Local,
    /// On a server.
    Remote,
}

impl ModelProfile {
    /// The profile for voters with this model.
    pub fn of(model: &ModelSpec) -> Self {
        match model.provider() {
            "local" => Self::Local,
            _ => Self::Remote,
        }
    }
}

impl CouncilCharter {
    /// Takes in what was learned, when the charter goes by it.
    pub(super) fn learn(&mut self, learned: Option<LearnedRule>, findings: &mut FindingList) {
        if self.judge == ComplexityJudge::Signals {
            return;
        }
        if learned.is_none() {
            // The charter asks for the learned rule, so falling back to the signals would change its decisions
            // silently.
            let file = LEARNED_FILE;
            findings.problem(file, None, CharterProblem::MissingFile { file });
        }
        self.detector.learned = learned;
    }

    /// The rules of a profile.
    pub const fn rules(&self, profile: ModelProfile) -> &BallotRules {
        match profile {
            ModelProfile::Local => &self.local,
            ModelProfile::Remote => &self.remote,
        }
    }

    /// Parameters of the program, without any material.
    pub fn params(&self, profile: ModelProfile) -> CouncilConfig {
        let rules = self.rules(profile);
        CouncilConfig {
            chiefs: self.chiefs.clone(),
            detector: self.detector.clone(),
            depth_max: rules.depth_max,
            sub_chiefs_max: rules.sub_chiefs_max,
            confidence: rules.confidence,
            synthesis: rules.synthesis,
            reuse: rules.reuse,
            compare: rules.compare,
            instructions: rules.instructions.clone(),
            reasoning_chars_max: Some(rules.reasoning_chars_max),
            output_tokens_max: rules.output_tokens_max,
            structured: rules.structured,
            timeout: rules.timeout,
            voter_time: rules.voter_time,
            ..CouncilConfig::default()
        }
    }

    /// Most tokens of the passages that one seat is given.
    pub const fn passage_tokens(&self, profile: ModelProfile) -> u32 {
        self.rules(profile).passage_tokens_max
    }
}

/// `[council]` as it stands in the file, and `[council.local]`, which has the same keys up to `instructions`.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub(super) struct CouncilTable {
    depth: Option<Spanned<u64>>,
    sub_chiefs_max: Option<Spanned<u64>>,
    confidence: Option<Spanned<WordOr<ConfidenceTable>>>,
    synthesis: Option<Spanned<String>>,
    reuse: Option<Spanned<WordOr<ReuseTable>>>,
    compare: Option<bool>,
    passage_tokens: Option<Spanned<u64>>,
    reasoning_chars: Option<Spanned<u64>>,
    output_tokens: Option<Spanned<u64>>,
    structured: Option<bool>,
    timeout: Option<Spanned<String>>,
    voter_time: Option<Spanned<String>>,
    instructions: Option<Spanned<String>>,
    local: Option<Spanned<Box<CouncilTable>>>,
    detector: Option<Spanned<DetectorTable>>,
    chief: Vec<Spanned<SeatTable>>,
}

/// Source of a table and destination of its findings.
struct TableReader<'a> {
    source: &'a CharterSource<'a>,
    dropped: &'a DroppedKeys,
    findings: &'a mut FindingList,
}

/// Checks a council, and that the bounds of a run leave room for it.
pub(super) fn read(
    said: Spanned<CouncilTable>,
    bounds: &RunBounds<'_>,
    source: &CharterSource<'_>,
    dropped: &DroppedKeys,
    findings: &mut FindingList,
) -> CouncilCharter {
    let span = said.span();
    let mut table = said.into_inner();
    let mut desk = TableReader {
        source,
        dropped,
        findings,
    };
    let remote = desk.rules(&table, &BallotRules::default());
    let local = match &table.local {
        Some(local) => {
            // Seats and detector are the same for both profiles: only how votes are taken may depend on the model.
            desk.only_rules(local.get_ref());
            desk.rules(local.get_ref(), &remote)
        }
        None => remote.clone(),
    };
    if table.chief.is_empty() && !dropped.has("council.chief") {
        let flaw = CharterProblem::MissingKey {
            key: "chief".to_owned(),
            example: "[[council.chief]]",
        };
        desk.problem(&span, flaw);
    }
    let (detector, judge) = desk.detector(table.detector.take());
    let council = CouncilCharter {
        remote,
        local,
        detector,
        judge,
        chiefs: desk.seats(table.chief, "council.chief", 0),
    };
    budget_check::check(&council, &span, bounds, &mut desk);
    council
}

impl TableReader<'_> {
    fn problem(&mut self, span: &Range<usize>, flaw: CharterProblem) {
        self.source.problem(Some(span), flaw, self.findings);
    }

    fn warning(&mut self, span: &Range<usize>, flaw: CharterProblem) {
        let place = self.source.place(span);
        self.findings.warning(self.source.file, Some(place), flaw);
    }

    fn bad<T>(&mut self, key: &str, value: &Spanned<T>, why: impl Into<String>) {
        self.source.bad(key, value, why, self.findings);
    }

    /// The number of a key, if it is within its bounds and fits its type.
    fn number<T: TryFrom<u64>>(
        &mut self,
        key: &str,
        said: Option<&Spanned<u64>>,
        bounds: RangeInclusive<u64>,
    ) -> Option<T> {
        let said = said?;
        let (value, cap) = (*said.get_ref(), *bounds.end());
        if value > cap {
            let key = key.to_owned();
            self.problem(&said.span(), CharterProblem::OverCap { key, value, cap });
        } else if value < *bounds.start() {
            self.bad(key, said, format!("must be at least {}", bounds.start()));
        } else {
            return T::try_from(value).ok();
        }
        None
    }
}

#[cfg(test)]
#[path = "council_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "broken_tests.rs"]
mod broken;
