//! `instructions.toml`: the registry of task instructions, one short text for each step of a stage.

use std::collections::BTreeMap;
use std::str::FromStr as _;

use serde::{Deserialize, Serialize};
use toml::Spanned;
use toml::value::{Date, Datetime};

use super::CountTokens;
use super::findings::FindingList;
use super::limits::{self, INSTRUCTION_TOKENS_MAX};
use super::problem::CharterProblem;
use super::strict_toml::{CharterSource, ParsedSource};

/// The file's name.
pub(super) const FILE: &str = "instructions.toml";

/// The instructions that every registry has, and their stages.
pub const INITIAL: [(&str, InstructionStage); 5] = [
    ("initial_planning", InstructionStage::Plan),
    ("refinement", InstructionStage::Refine),
    ("observer", InstructionStage::Observe),
    ("interruption_handling", InstructionStage::Act),
    ("verification", InstructionStage::Verify),
];

/// A stage of thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InstructionStage {
    /// Makes a plan.
    Plan,
    /// Looks for what is wrong with it.
    Refine,
    /// Watches the answer as it is written.
    Observe,
    /// Does what was approved.
    Act,
    /// Proves what was done.
    Verify,
}

impl InstructionStage {
    /// The stage as a file names it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Refine => "refine",
            Self::Observe => "observe",
            Self::Act => "act",
            Self::Verify => "verify",
        }
    }
}

/// A task instruction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StageInstruction {
    /// Instructions to the model.
    pub text: String,
    /// The stage that tells it.
    pub stage: InstructionStage,
    /// Most tokens that the text may have.
    pub max_tokens: u64,
    /// The day of the last change, as `YYYY-MM-DD`.
    pub last_updated: String,
}

/// The file: a table for each key.
type InstructionsFile = BTreeMap<Spanned<String>, Spanned<InstructionTable>>;

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct InstructionTable {
    text: Option<Spanned<String>>,
    stage: Option<Spanned<InstructionStage>>,
    max_tokens: Option<Spanned<u64>>,
    last_updated: Option<Spanned<toml::Value>>,
}

/// Reads the file.
pub(super) fn read(
    text: &str,
    count: CountTokens<'_>,
    findings: &mut FindingList,
) -> BTreeMap<String, StageInstruction> {
    let source = CharterSource::whole(FILE, text);
    let Some(read) = source.read::<InstructionsFile>(findings) else {
        return BTreeMap::new();
    };
    if read.value.len() > limits::INSTRUCTIONS_MAX {
        let flaw = CharterProblem::TooMany {
            what: "instructions",
            count_max: limits::INSTRUCTIONS_MAX,
        };
        source.problem(None, flaw, findings);
    }
    // Programs address these five by key, so a missing one would be noticed only in the middle of a run.
    complain_about_initial(&source, &read, findings);
    let mut instructions = BTreeMap::new();
    for (key, table) in &read.value {
        if !is_key(key.get_ref()) {
            let why = "a key starts with a letter and uses only lowercase letters, digits and `_`";
            source.bad(key.get_ref(), key, why, findings);
        }
        if let Some(instruction) = instruction(&source, &read, (key, table), count, findings) {
            instructions.insert(key.get_ref().clone(), instruction);
        }
    }
    instructions
}

fn complain_about_initial(
    source: &CharterSource<'_>,
    read: &ParsedSource<InstructionsFile>,
    findings: &mut FindingList,
) {
    for (key, stage) in INITIAL {
        let found = read.value.iter().find(|(known, _)| known.get_ref() == key);
        let stage_name = stage.as_str();
        match found.map(|(_, table)| table.get_ref().stage.as_ref()) {
            None if !read.dropped.has(key) => {
                let stage = stage_name;
                source.problem(
                    None,
                    CharterProblem::MissingInstruction { key, stage },
                    findings,
                );
            }
            Some(Some(said)) if *said.get_ref() != stage => {
                let stage = stage_name;
                let flaw = CharterProblem::WrongStage { key, stage };
                source.problem(Some(&said.span()), flaw, findings);
            }
            _ => {}
        }
    }
}

fn is_key(key: &str) -> bool {
    key.starts_with(|c: char| c.is_ascii_lowercase())
        && key.len() <= limits::NAME_CHARS_MAX
        && key
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// One instruction, where all of it is there.
fn instruction(
    source: &CharterSource<'_>,
    read: &ParsedSource<InstructionsFile>,
    (key, table): (&Spanned<String>, &Spanned<InstructionTable>),
    count: CountTokens<'_>,
    findings: &mut FindingList,
) -> Option<StageInstruction> {
    let said = table.get_ref();
    let needed = [
        ("text", said.text.is_some(), "text = \"…\""),
        ("stage", said.stage.is_some(), "stage = \"plan\""),
        (
            "last_updated",
            said.last_updated.is_some(),
            "last_updated = 2026-01-31",
        ),
    ];
    for (part, is_there, example) in needed {
        if !is_there && !read.dropped.has(&format!("{}.{part}", key.get_ref())) {
            let part = part.to_owned();
            let flaw = CharterProblem::MissingKey { key: part, example };
            source.problem(Some(&table.span()), flaw, findings);
        }
    }
    let max_tokens = max_tokens(source, said.max_tokens.as_ref(), findings);
    let date = said.last_updated.as_ref();
    let last_updated = date.and_then(|value| date_of(source, value, findings));
    let text = said.text.as_ref()?;
    check_text(source, text, max_tokens, count, findings);
    Some(StageInstruction {
        text: text.get_ref().trim().to_owned(),
        stage: *said.stage.as_ref()?.get_ref(),
        max_tokens,
        last_updated: last_updated?.to_string(),
    })
}

fn max_tokens(
    source: &CharterSource<'_>,
    said: Option<&Spanned<u64>>,
    findings: &mut FindingList,
) -> u64 {
    let Some(said) = said else {
        return INSTRUCTION_TOKENS_MAX;
    };
    match *said.get_ref() {
        0 => source.bad("max_tokens", said, "must be at least 1", findings),
        value if value > INSTRUCTION_TOKENS_MAX => {
            let flaw = CharterProblem::OverCap {
                key: "max_tokens".to_owned(),
                value,
                cap: INSTRUCTION_TOKENS_MAX,
            };
            source.problem(Some(&said.span()), flaw, findings);
        }
        value => return value,
    }
    INSTRUCTION_TOKENS_MAX
}

fn date_of(
    source: &CharterSource<'_>,
    value: &Spanned<toml::Value>,
    findings: &mut FindingList,
) -> Option<Date> {
    let moment = match value.get_ref() {
        toml::Value::Datetime(moment) => Some(*moment),
        // TOML has dates, but people quote them as they do in JSON and YAML.
        toml::Value::String(text) => Datetime::from_str(text).ok(),
        _ => None,
    };
    let day = moment.filter(|moment| moment.time.is_none() && moment.offset.is_none());
    let day = day.and_then(|moment| moment.date);
    if day.is_none() {
        let why = "expected a date such as 2026-01-31";
        source.bad("last_updated", value, why, findings);
    }
    day
}

fn check_text(
    source: &CharterSource<'_>,
    text: &Spanned<String>,
    tokens_max: u64,
    count: CountTokens<'_>,
    findings: &mut FindingList,
) {
    let said = text.get_ref().trim();
    let flaw = if said.is_empty() {
        let what = "the text of an instruction".to_owned();
        CharterProblem::Empty { what }
    } else {
        let tokens = count(said);
        if tokens <= tokens_max {
            return;
        }
        CharterProblem::TooManyTokens {
            key: "text".to_owned(),
            tokens,
            tokens_max,
        }
    };
    source.problem(Some(&text.span()), flaw, findings);
}
