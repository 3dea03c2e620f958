//! `[agency]`: what is made, what it must meet, and the ways to a platform.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use fathom_core::unit::Millis;
use fathom_programs::agency::AgencyLimits;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::agent_files::PromptFile;
use super::council::ModelProfile;
use super::findings::FindingList;
use super::manifest::FILE;
use super::problem::CharterProblem;
use super::strict_toml::{CharterSource, unknown_word};
use super::tool_policies::ToolPolicies;
use crate::config::parse_time;

/// Characters of a title or a text.
const CHARS: RangeInclusive<u32> = 20..=10_000;
/// Output tokens of a call.
const OUTPUT_TOKENS: RangeInclusive<u32> = 32..=32_768;
/// Bounds for the number of repetitions.
const AGAIN: RangeInclusive<u32> = 0..=20;

/// Tools of a lane to a platform, by their purpose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaneTools {
    /// Publishes.
    pub publish: String,
    /// Looks whether a post can be seen.
    pub seen: String,
    /// Fetches what people said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feed: Option<String>,
    /// Answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
    /// Looks whether an answer can be seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replied: Option<String>,
}

impl LaneTools {
    fn all(&self) -> impl Iterator<Item = &String> {
        let others = [&self.feed, &self.reply, &self.replied];
        [&self.publish, &self.seen]
            .into_iter()
            .chain(others.into_iter().flatten())
    }
}

/// Limits of the agency's work with one kind of model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgencyRules {
    /// Most characters of a title.
    pub title_chars: u32,
    /// Most characters of a text.
    pub text_chars: u32,
    /// Limits that the program enforces.
    pub limits: AgencyLimits,
}

/// The agency as a charter describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgencyCharter {
    /// The prompt that says what is made.
    pub blueprint: String,
    /// The prompt that an asset must meet.
    pub rubric: String,
    /// The prompt that an answer must meet.
    pub reply_rubric: String,
    /// With models on servers.
    pub remote: AgencyRules,
    /// With the model in this process.
    pub local: AgencyRules,
    /// The ways to a platform by their names.
    pub lanes: BTreeMap<String, LaneTools>,
}

impl AgencyCharter {
    /// The rules for a model of this kind.
    pub const fn rules(&self, profile: ModelProfile) -> &AgencyRules {
        match profile {
            ModelProfile::Local => &self.local,
            ModelProfile::Remote => &self.remote,
        }
    }

    /// Looks whether what it names is there.
    pub(super) fn check(
        &self,
        gate: Option<&ToolPolicies>,
        prompts: &BTreeMap<String, PromptFile>,
        findings: &mut FindingList,
    ) {
        for id in [&self.blueprint, &self.rubric, &self.reply_rubric] {
            if !prompts.contains_key(id) {
                let flaw = unknown_word(id.clone(), prompts.keys().cloned().collect());
                findings.problem(FILE, None, flaw);
            }
        }
        let Some(gate) = gate else {
            let file = super::tool_policies::TOOLS_FILE;
            return findings.problem(file, None, CharterProblem::MissingFile { file });
        };
        // Names in lanes are checked here, since a lane with an unknown tool would fail only after the post was
        // written.
        let tools = gate.names();
        for name in self.lanes.values().flat_map(LaneTools::all) {
            if !tools.contains(name) {
                let flaw = unknown_word(name.clone(), tools.clone());
                findings.problem(FILE, None, flaw);
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AgencyTable {
    blueprint: String,
    rubric: String,
    reply_rubric: String,
    title_chars: Option<Spanned<u32>>,
    text_chars: Option<Spanned<u32>>,
    output_tokens: Option<Spanned<u32>>,
    timeout: Option<Spanned<String>>,
    revisions: Option<Spanned<u32>>,
    looks: Option<Spanned<u32>>,
    look_every: Option<Spanned<String>>,
    replies: Option<Spanned<u32>>,
    #[serde(default)]
    local: RulesTable,
    #[serde(default)]
    lanes: BTreeMap<String, LaneTools>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct RulesTable {
    title_chars: Option<Spanned<u32>>,
    text_chars: Option<Spanned<u32>>,
    output_tokens: Option<Spanned<u32>>,
    timeout: Option<Spanned<String>>,
    revisions: Option<Spanned<u32>>,
    looks: Option<Spanned<u32>>,
    look_every: Option<Spanned<String>>,
    replies: Option<Spanned<u32>>,
}

impl RulesTable {
    fn over(
        self,
        usual: AgencyRules,
        source: &CharterSource<'_>,
        findings: &mut FindingList,
    ) -> AgencyRules {
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
        let limits = usual.limits;
        let title_chars = number("title_chars", self.title_chars, usual.title_chars, &CHARS);
        let text_chars = number("text_chars", self.text_chars, usual.text_chars, &CHARS);
        let output_tokens = number(
            "output_tokens",
            self.output_tokens,
            limits.output_tokens,
            &OUTPUT_TOKENS,
        );
        let revisions_max = number("revisions", self.revisions, limits.revisions_max, &AGAIN);
        let looks_max = number("looks", self.looks, limits.looks_max, &AGAIN);
        let replies_max = number("replies", self.replies, limits.replies_max, &AGAIN);
        let mut time = |key, said: Option<Spanned<String>>, usual| {
            said.map_or(usual, |said| {
                parse_time(said.get_ref()).unwrap_or_else(|why| {
                    source.bad(key, &said, why.to_string(), findings);
                    usual
                })
            })
        };
        AgencyRules {
            title_chars,
            text_chars,
            limits: AgencyLimits {
                output_tokens,
                timeout: time("timeout", self.timeout, limits.timeout),
                revisions_max,
                looks_max,
                look_every: time("look_every", self.look_every, limits.look_every),
                replies_max,
            },
        }
    }
}

/// Reads the table; what it names is looked for later.
pub(super) fn read(
    table: AgencyTable,
    source: &CharterSource<'_>,
    findings: &mut FindingList,
) -> AgencyCharter {
    let all = RulesTable {
        title_chars: table.title_chars,
        text_chars: table.text_chars,
        output_tokens: table.output_tokens,
        timeout: table.timeout,
        revisions: table.revisions,
        looks: table.looks,
        look_every: table.look_every,
        replies: table.replies,
    };
    let usual = AgencyRules {
        title_chars: 80,
        text_chars: 600,
        limits: AgencyLimits::default(),
    };
    let remote = all.over(usual, source, findings);
    // Two cores write slowly.
    let slow = AgencyRules {
        limits: AgencyLimits {
            timeout: Millis(480_000),
            ..remote.limits
        },
        ..remote
    };
    AgencyCharter {
        blueprint: table.blueprint,
        rubric: table.rubric,
        reply_rubric: table.reply_rubric,
        local: table.local.over(slow, source, findings),
        remote,
        lanes: table.lanes,
    }
}
