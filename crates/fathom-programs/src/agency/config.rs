//! Configuration of an agency: data of its charter and of the brand, fixed before any model runs.

use serde::{Deserialize, Serialize};

use fathom_core::contract::{Autonomy, PermissionMode};
use fathom_core::effect::{EffectClass, EffectRequest, EffectTarget};
use fathom_core::journal::event::ProgramSpec;
use fathom_core::model::tool_call::canonical;
use fathom_core::text::Text;
use fathom_core::unit::Millis;

use super::NAME;

/// A member of the crew: what an agent file says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CrewMember {
    /// Prompt of the role.
    pub prompt: String,
    /// Tools it may call.
    pub allowed_tools: Vec<String>,
    /// Domains it may look at.
    pub read_scopes: Vec<String>,
    /// Domains it may change.
    pub write_scopes: Vec<String>,
    /// Permission to change the world outside.
    pub permission_mode: PermissionMode,
    /// Degree of autonomy.
    pub autonomy: Autonomy,
}

/// Settings of the seven roles.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgencyCrew {
    pub planner: CrewMember,
    pub creator: CrewMember,
    pub publisher: CrewMember,
    pub engagement: CrewMember,
    /// Proves what was done, and judges what was made.
    pub verifier: CrewMember,
    pub doc: CrewMember,
    pub orchestrator: CrewMember,
}

/// A tool as the charter offers it to the crew.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgencyTool {
    pub tool: String,
    /// Effect class: whether it only reads.
    pub class: EffectClass,
    pub target: EffectTarget,
}

impl AgencyTool {
    /// A call of the tool.
    pub(super) fn request(&self, event: &str, arguments: &serde_json::Value) -> EffectRequest {
        EffectRequest {
            tool: self.tool.clone(),
            target: self.target.clone(),
            event: event.to_owned(),
            arguments: Text::new(canonical(arguments)),
            class: self.class,
            taint: Vec::new(),
        }
    }
}

/// The way to a platform: through its API or through a browser.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishingLane {
    /// Its name, as `api`.
    pub name: String,
    /// Publishes `title` and `text`.
    pub publish: AgencyTool,
    /// Looks whether a post can be seen, by `post` and `title`.
    pub seen: AgencyTool,
    /// Fetches what people said under `post`; what it brings is ingested as events.
    pub feed: Option<AgencyTool>,
    /// Answers `comment` with `text`.
    pub reply: Option<AgencyTool>,
    /// Looks whether an answer to `comment` can be seen.
    pub replied: Option<AgencyTool>,
}

/// Something too large or too loose to carry, of which a capsule is made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CapsuleSource {
    /// The kind of capsule: `brand` or `knowledge`.
    pub kind: String,
    /// SHA-256 of the text, in hexadecimal digits: a capsule is good as long as this stays.
    pub digest: String,
    pub text: String,
}

/// Template of an asset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgencyBlueprint {
    /// Its type, as `announcement`.
    pub kind: String,
    /// Criteria of a good asset.
    pub instructions: String,
    /// Most characters of the title.
    pub title_chars_max: u32,
    /// Most characters of the text.
    pub text_chars_max: u32,
}

/// Limits of the work beside the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgencyLimits {
    /// Output cap of one call.
    pub output_tokens: u32,
    /// Longest time of one attempt.
    pub timeout: Millis,
    /// Remakes of an asset that its rubric fails.
    pub revisions_max: u32,
    /// Looks of a verifier, its children included.
    pub looks_max: u32,
    /// Time between two looks.
    pub look_every: Millis,
    /// People who are answered in one run.
    pub replies_max: u32,
}

impl Default for AgencyLimits {
    fn default() -> Self {
        Self {
            output_tokens: 512,
            timeout: Millis(60_000),
            revisions_max: 1,
            looks_max: 6,
            look_every: Millis(500),
            replies_max: 3,
        }
    }
}

/// Configuration of the `agency` program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgencyConfig {
    /// The brand, as people call it.
    pub brand: String,
    /// Subject of the work, fixed before any model runs. One occasion is published once.
    pub occasion: String,
    /// Sources of the capsules.
    pub sources: Vec<CapsuleSource>,
    pub crew: AgencyCrew,
    /// Template of the asset.
    pub blueprint: AgencyBlueprint,
    /// Criteria for an asset.
    pub rubric: String,
    /// Criteria for an answer to people.
    pub reply_rubric: String,
    /// Tools that reach the platform.
    pub lane: PublishingLane,
    /// Models and settings that make the assets.
    pub provider: String,
    /// Limits of the work.
    pub limits: AgencyLimits,
}

impl AgencyConfig {
    /// The specification of an `agency` with these parameters.
    pub fn spec(&self) -> ProgramSpec {
        ProgramSpec::new(NAME, self)
    }
}
