//! `[phases]`: the phases of thought, what every phase is told, the catalogue of symbols, and what a session begins with.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::Path;

use fathom_core::domain::symbols::{AgentProfile, Kit, Symbol};
use fathom_core::unit::Millis;
use fathom_programs::phases::{PHASES_MAX, PhaseSpec, PhasesConfig, TaskConfig};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::council::ModelProfile;
use super::findings::FindingList;
use super::manifest::thousandths;
use super::problem::CharterProblem;
use super::strict_toml::{self, CharterSource, unknown_word};
use crate::config::parse_time;

/// The folder of phases.
pub(super) const PHASES: &str = "phases";
/// The folder of what every phase is told.
pub(super) const SHARED: &str = "shared";
/// The symbols of the catalogue.
pub(super) const SYMBOLS_FILE: &str = "symbols.json";
/// The kits of the catalogue.
pub(super) const KITS_FILE: &str = "kits.json";
/// The personas of the catalogue.
pub(super) const AGENTS_FILE: &str = "agents.json";
/// File with the first context of a session.
pub(super) const CONTEXT_FILE: &str = "context.json";

/// Output tokens of a phase or a task.
const OUTPUT_TOKENS: RangeInclusive<u32> = 32..=32_768;

/// Entries of a session's history that a phase may be shown.
const HISTORY_ENTRIES: RangeInclusive<u32> = 0..=1_000;

/// Characters of a phase's words.
const REPLY_CHARS: RangeInclusive<u32> = 40..=20_000;

/// Settings of phases for one kind of model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhaseRules {
    /// Output cap of a phase.
    pub output_tokens: u32,
    /// Most characters of a phase's words where the form is held to.
    pub reply_chars: u32,
    /// Output cap of a dispatched task.
    pub task_output_tokens: u32,
    /// Latest entries of the session that a phase is shown, as far as they fit.
    pub history_entries: u32,
    /// True if a grammar constrains the reply while it is generated.
    pub structured: bool,
    /// Longest time of one attempt.
    pub timeout: Millis,
}

impl Default for PhaseRules {
    fn default() -> Self {
        Self {
            output_tokens: 1_024,
            reply_chars: 1_200,
            task_output_tokens: 512,
            history_entries: 64,
            structured: true,
            timeout: Millis(60_000),
        }
    }
}

/// Something a session begins with, and how much it matters beside the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeightedEntry {
    pub id: String,
    /// From 0 to 1.
    #[serde(default = "full")]
    pub weight: f64,
}

const fn full() -> f64 {
    1.0
}

/// First context of every session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SessionSeed {
    /// Agents.
    pub agents: Vec<WeightedEntry>,
    /// Symbols.
    pub symbols: Vec<WeightedEntry>,
}

/// The catalogue that a charter brings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CharterCatalogue {
    /// Symbols.
    pub symbols: Vec<Symbol>,
    /// Kits.
    pub kits: Vec<Kit>,
    /// Personas.
    pub agents: Vec<AgentProfile>,
}

/// The phase loop as a charter describes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhasesCharter {
    /// With models on servers.
    pub remote: PhaseRules,
    /// With the model in this process.
    pub local: PhaseRules,
    /// Domains that a session may look at.
    pub read_scopes: Vec<String>,
    /// Domains that a session may change.
    pub write_scopes: Vec<String>,
    /// The phases in their order.
    pub phases: Vec<PhaseSpec>,
    /// Instructions shared by all phases.
    pub shared: Vec<String>,
    pub catalogue: CharterCatalogue,
    /// First context of every session.
    pub beginning: SessionSeed,
}

impl PhasesCharter {
    /// The rules for a model of this kind.
    pub const fn rules(&self, profile: ModelProfile) -> &PhaseRules {
        match profile {
            ModelProfile::Local => &self.local,
            ModelProfile::Remote => &self.remote,
        }
    }

    /// The parameters of a run, without what the store and the session add.
    pub fn params(&self, profile: ModelProfile) -> PhasesConfig {
        let rules = self.rules(profile);
        PhasesConfig {
            phases: self.phases.clone(),
            shared: self.shared.clone(),
            structured: rules.structured,
            output_tokens_max: rules.output_tokens,
            reply_chars_max: rules.reply_chars,
            timeout: rules.timeout,
            task: TaskConfig {
                output_tokens_max: rules.task_output_tokens,
                ..TaskConfig::default()
            },
            ..PhasesConfig::default()
        }
    }
}

impl SessionSeed {
    /// Ids from the least to the most worth.
    pub fn ids(of: &[WeightedEntry]) -> Vec<String> {
        let mut of: Vec<&WeightedEntry> = of.iter().rev().collect();
        // Reversed before a stable sort, so that among equal weights the first of the file counts as worth more.
        of.sort_by(|a, b| a.weight.total_cmp(&b.weight));
        of.into_iter().map(|one| one.id.clone()).collect()
    }
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub(super) struct PhasesTable {
    read_scopes: Vec<String>,
    write_scopes: Vec<String>,
    output_tokens: Option<Spanned<u32>>,
    task_output_tokens: Option<Spanned<u32>>,
    history_entries: Option<Spanned<u32>>,
    structured: Option<bool>,
    timeout: Option<Spanned<String>>,
    reply_chars: Option<Spanned<u32>>,
    local: LocalTable,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct LocalTable {
    output_tokens: Option<Spanned<u32>>,
    task_output_tokens: Option<Spanned<u32>>,
    history_entries: Option<Spanned<u32>>,
    structured: Option<bool>,
    timeout: Option<Spanned<String>>,
    reply_chars: Option<Spanned<u32>>,
}

impl LocalTable {
    fn over(
        self,
        usual: PhaseRules,
        source: &CharterSource<'_>,
        findings: &mut FindingList,
    ) -> PhaseRules {
        let mut number = |key, said: Option<Spanned<u32>>, usual, range: &RangeInclusive<u32>| {
            let Some(said) = said else { return usual };
            if !range.contains(said.get_ref()) {
                let why = format!(
                    "expected a number from {} to {}",
                    range.start(),
                    range.end()
                );
                source.bad(key, &said, why, findings);
            }
            said.into_inner()
        };
        PhaseRules {
            output_tokens: number(
                "output_tokens",
                self.output_tokens,
                usual.output_tokens,
                &OUTPUT_TOKENS,
            ),
            reply_chars: number(
                "reply_chars",
                self.reply_chars,
                usual.reply_chars,
                &REPLY_CHARS,
            ),
            task_output_tokens: number(
                "task_output_tokens",
                self.task_output_tokens,
                usual.task_output_tokens,
                &OUTPUT_TOKENS,
            ),
            history_entries: number(
                "history_entries",
                self.history_entries,
                usual.history_entries,
                &HISTORY_ENTRIES,
            ),
            structured: self.structured.unwrap_or(usual.structured),
            timeout: self.timeout.map_or(usual.timeout, |said| {
                parse_time(said.get_ref()).unwrap_or_else(|why| {
                    source.bad("timeout", &said, why.to_string(), findings);
                    usual.timeout
                })
            }),
        }
    }
}

/// Reads the table; the files come later.
pub(super) fn read(
    table: PhasesTable,
    source: &CharterSource<'_>,
    findings: &mut FindingList,
) -> PhasesCharter {
    let all = LocalTable {
        output_tokens: table.output_tokens,
        task_output_tokens: table.task_output_tokens,
        history_entries: table.history_entries,
        structured: table.structured,
        timeout: table.timeout,
        reply_chars: table.reply_chars,
    };
    let remote = all.over(PhaseRules::default(), source, findings);
    // Two cores write slowly.
    let slow = PhaseRules {
        timeout: Millis(480_000),
        ..remote
    };
    PhasesCharter {
        local: table.local.over(slow, source, findings),
        remote,
        read_scopes: table.read_scopes,
        write_scopes: table.write_scopes,
        ..PhasesCharter::default()
    }
}

/// The files of the phase loop as they are met.
#[derive(Default)]
pub(super) struct PhaseFiles {
    phases: BTreeMap<String, PhaseSpec>,
    shared: BTreeMap<String, String>,
    catalogue: CharterCatalogue,
    beginning: SessionSeed,
    is_empty: bool,
}

impl PhaseFiles {
    pub(super) fn new() -> Self {
        Self {
            is_empty: true,
            ..Self::default()
        }
    }

    /// Reads one of them; whether it is one.
    pub(super) fn take(&mut self, file: &str, text: &str, findings: &mut FindingList) -> bool {
        match (file, file.split_once('/')) {
            (_, Some((PHASES, _))) => {
                let phase = phase(file, text, findings);
                self.phases.insert(file.to_owned(), phase);
            }
            (_, Some((SHARED, _))) => {
                self.shared.insert(file.to_owned(), text.trim().to_owned());
            }
            (SYMBOLS_FILE, _) => self.catalogue.symbols = json(file, text, findings),
            (KITS_FILE, _) => self.catalogue.kits = json(file, text, findings),
            (AGENTS_FILE, _) => self.catalogue.agents = json(file, text, findings),
            (CONTEXT_FILE, _) => self.beginning = json(file, text, findings),
            _ => return false,
        }
        self.is_empty = false;
        true
    }

    /// Puts the files and the table together, and looks whether they fit.
    pub(super) fn join(self, phases: &mut Option<PhasesCharter>, findings: &mut FindingList) {
        let Some(phases) = phases else {
            if !self.is_empty {
                let flaw = CharterProblem::MissingKey {
                    key: "phases".to_owned(),
                    example: "[phases]",
                };
                findings.problem(super::manifest::FILE, None, flaw);
            }
            return;
        };
        self.check(findings);
        phases.phases = self.phases.into_values().collect();
        phases.shared = self.shared.into_values().collect();
        phases.catalogue = self.catalogue;
        phases.beginning = self.beginning;
    }

    fn check(&self, findings: &mut FindingList) {
        if self.phases.is_empty() {
            let what = "the folder `phases`".to_owned();
            findings.problem(PHASES, None, CharterProblem::Empty { what });
        } else if self.phases.len() > PHASES_MAX {
            let flaw = CharterProblem::TooMany {
                what: "phases",
                count_max: PHASES_MAX,
            };
            findings.problem(PHASES, None, flaw);
        }
        let mut first: BTreeMap<&str, &str> = BTreeMap::new();
        for (file, phase) in &self.phases {
            if let Some(first) = first.insert(&phase.id, file) {
                let (id, first) = (phase.id.clone(), first.to_owned());
                findings.problem(file, None, CharterProblem::DuplicateId { id, first });
            }
        }
        let symbols = ids(
            SYMBOLS_FILE,
            self.catalogue.symbols.iter().map(|one| &one.id),
            findings,
        );
        let agents = ids(
            AGENTS_FILE,
            self.catalogue.agents.iter().map(|one| &one.id),
            findings,
        );
        ids(
            KITS_FILE,
            self.catalogue.kits.iter().map(|one| &one.id),
            findings,
        );
        let SessionSeed {
            agents: roster,
            symbols: ledger,
        } = &self.beginning;
        for (wanted, known) in [(roster, &agents), (ledger, &symbols)] {
            for one in wanted {
                if !known.contains(&one.id) {
                    let flaw = unknown_word(one.id.clone(), known.clone());
                    findings.problem(CONTEXT_FILE, None, flaw);
                }
                if thousandths(one.weight, 1_000).is_none() {
                    let why =
                        "a weight is a number from 0 to 1 with at most three decimals".to_owned();
                    let key = one.id.clone();
                    findings.problem(CONTEXT_FILE, None, CharterProblem::BadValue { key, why });
                }
            }
        }
    }
}

/// The ids of a file, each of which is there once.
fn ids<'a>(
    file: &str,
    ids: impl Iterator<Item = &'a String>,
    findings: &mut FindingList,
) -> Vec<String> {
    let mut seen = Vec::new();
    for id in ids {
        if seen.contains(id) {
            let (id, first) = (id.clone(), file.to_owned());
            findings.problem(file, None, CharterProblem::DuplicateId { id, first });
        } else {
            seen.push(id.clone());
        }
    }
    seen
}

/// A phase: `phase:`, `title:` and `commands:` lines at the top, then what the model is told. Without them the file's name is its id.
fn phase(file: &str, text: &str, findings: &mut FindingList) -> PhaseSpec {
    let stem = Path::new(file).file_stem().unwrap_or_default();
    let stem = stem.to_string_lossy().into_owned();
    let (mut id, mut title, mut commands_min) = (None, String::new(), 0);
    let mut rest = text;
    while let Some((line, below)) = rest.split_once('\n') {
        match line.split_once(':') {
            Some(("phase", name)) => id = Some(name.trim().to_owned()),
            Some(("title", name)) => name.trim().clone_into(&mut title),
            Some(("commands", count)) => {
                if let Ok(count) = count.trim().parse() {
                    commands_min = count;
                } else {
                    let (key, why) = ("commands".to_owned(), "expected a small number".to_owned());
                    findings.problem(file, None, CharterProblem::BadValue { key, why });
                }
            }
            // The head ends with the first line that is not one of its keys, and that line is part of the prompt.
            _ => break,
        }
        rest = below;
    }
    if rest.trim().is_empty() {
        let what = "the prompt".to_owned();
        findings.problem(file, None, CharterProblem::Empty { what });
    }
    PhaseSpec {
        id: id
            .filter(|id| !id.is_empty())
            .unwrap_or_else(|| stem.clone()),
        // A model may name a phase by its file instead of its id.
        aliases: vec![stem],
        title,
        template: rest.trim().to_owned(),
        commands_min,
    }
}

fn json<T: DeserializeOwned + Default>(file: &str, text: &str, findings: &mut FindingList) -> T {
    match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => {
            let before: usize = text
                .split_inclusive('\n')
                .take(error.line().saturating_sub(1))
                .map(str::len)
                .sum();
            let at = before + error.column().saturating_sub(1);
            let place = strict_toml::place(text, at..at);
            let message = error.to_string();
            findings.problem(file, Some(place), CharterProblem::Syntax { message });
            T::default()
        }
    }
}

#[cfg(test)]
#[path = "phases_tests.rs"]
mod tests;
