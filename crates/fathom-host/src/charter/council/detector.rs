//! `[council.detector]`: thresholds and lists of words.

use std::collections::BTreeMap;

use fathom_programs::council::complexity::{DetectorConfig, TopicDomain};
use serde::Deserialize;
use toml::Spanned;

use super::super::limits::LIST_MAX;
use super::super::problem::CharterProblem;
use super::seats::is_id;
use super::{ComplexityJudge, TableReader};

/// Signals that a question can give.
const SIGNALS: u64 = 4;

/// The table as it stands in the file.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub(super) struct DetectorTable {
    tokens_over: Option<Spanned<u64>>,
    uncertainty_min: Option<Spanned<u64>>,
    domains_min: Option<Spanned<u64>>,
    factors_min: Option<Spanned<u64>>,
    score_min: Option<Spanned<u64>>,
    /// True if the rule learned from past councils decides.
    learned: bool,
    uncertainty: Vec<Spanned<String>>,
    factor_openers: Vec<Spanned<String>>,
    factors: Vec<Spanned<String>>,
    domains: BTreeMap<Spanned<String>, Vec<Spanned<String>>>,
}

impl TableReader<'_> {
    /// The detector, and whether it is to go by what was learned.
    pub(super) fn detector(
        &mut self,
        said: Option<Spanned<DetectorTable>>,
    ) -> (DetectorConfig, ComplexityJudge) {
        let mut detector = DetectorConfig::default();
        let table = said.map(Spanned::into_inner).unwrap_or_default();
        let thresholds = [
            ("tokens_over", &table.tokens_over, &mut detector.tokens_over),
            (
                "uncertainty_min",
                &table.uncertainty_min,
                &mut detector.uncertainty_min,
            ),
            ("domains_min", &table.domains_min, &mut detector.domains_min),
            ("factors_min", &table.factors_min, &mut detector.factors_min),
        ];
        for (key, said, place) in thresholds {
            if let Some(number) = self.number(key, said.as_ref(), 1..=u32::MAX.into()) {
                *place = number;
            }
        }
        if let Some(number) = self.number("score_min", table.score_min.as_ref(), 1..=SIGNALS) {
            detector.score_min = number;
        }
        detector.uncertainty = self.words("uncertainty", table.uncertainty);
        detector.factor_openers = self.words("factor_openers", table.factor_openers);
        detector.factors = self.words("factors", table.factors);
        detector.domains = self.domains(table.domains);
        let by = if table.learned {
            ComplexityJudge::Learned
        } else {
            ComplexityJudge::Signals
        };
        (detector, by)
    }

    fn domains(
        &mut self,
        said: BTreeMap<Spanned<String>, Vec<Spanned<String>>>,
    ) -> Vec<TopicDomain> {
        let mut said: Vec<_> = said.into_iter().collect();
        // The map sorts by name, but the limit counts in the order of the file.
        said.sort_by_key(|(name, _)| name.span().start);
        if let Some((first_over, _)) = said.get(LIST_MAX) {
            let (what, count_max) = ("domains", LIST_MAX);
            self.problem(
                &first_over.span(),
                CharterProblem::TooMany { what, count_max },
            );
        }
        let domains = said.into_iter().map(|(name, words)| {
            if !is_id(name.get_ref()) {
                let why =
                    "a domain name starts with a letter and uses only letters, digits, `-` and `_`";
                self.bad(name.get_ref(), &name, why);
            }
            if words.is_empty() {
                let what = format!("the domain `{}`", name.get_ref());
                self.problem(&name.span(), CharterProblem::Empty { what });
            }
            TopicDomain {
                name: name.into_inner(),
                words: self.words("domains", words),
            }
        });
        domains.collect()
    }
}
