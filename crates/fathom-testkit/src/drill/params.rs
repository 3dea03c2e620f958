//! What a drill does, as it stands in its parameters.

use fathom_core::budget::amounts::Amounts;
use fathom_core::contract::spawn::{SpawnClass, SpawnTrigger};
use fathom_core::contract::{ChildType, Contract};
use fathom_core::effect::EffectRequest;
use fathom_core::journal::event::ProgramSpec;
use fathom_core::model::ReplyMode;
use fathom_core::text::Text;
use fathom_core::unit::Millis;
use serde::{Deserialize, Serialize};

use super::NAME;

/// How a drill ends when its rounds are over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DrillEnding {
    /// With a result.
    #[default]
    Finish,
    /// With a result, and in the same breath it asks for a child and a call that nobody waits for.
    Abrupt,
    /// It says that it failed.
    Fail,
    /// It asks for nothing more and never finishes; the governor notices.
    Idle,
}

/// What a drill does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of its own in the parameters"
)]
pub struct DrillConfig {
    /// What the models are asked; each call adds its place.
    pub prompt: String,
    /// Rounds, one after another.
    pub rounds: u32,
    /// Model calls in each round, all at once.
    pub calls: u32,
    /// Output cap of a call.
    pub output_tokens_max: u32,
    /// Output cap below which a call is of no use.
    pub output_tokens_min: u32,
    /// How replies come back.
    pub delivery: ReplyMode,
    /// Longest time of one attempt.
    pub timeout: Millis,
    /// Whether it waits for a person when a model cannot be reached.
    pub waits_out_outages: bool,
    /// Children, each in its round.
    pub children: Vec<DrillChild>,
    /// Effects, each in its round.
    pub effects: Vec<DrillEffect>,
    /// How many open calls of a round it gives up when the first of them is answered.
    pub cancels: u32,
    /// How many asks that failed or were refused it makes again.
    pub retries: u32,
    /// Whether it wants an effect that certainly did not happen again until it did. What was denied it wants no
    /// more, unless nobody said anything in time.
    pub insists: bool,
    /// Whether it has a text shortened in each round.
    pub summarises: bool,
    /// Whether it shows a block in each round.
    pub emits: bool,
    /// How it ends.
    pub ending: DrillEnding,
}

impl Default for DrillConfig {
    fn default() -> Self {
        Self {
            prompt: "Say something.".into(),
            rounds: 1,
            calls: 1,
            output_tokens_max: 64,
            output_tokens_min: 1,
            delivery: ReplyMode::Whole,
            timeout: Millis(60_000),
            waits_out_outages: false,
            children: Vec::new(),
            effects: Vec::new(),
            cancels: 0,
            retries: 0,
            insists: false,
            summarises: false,
            emits: false,
            ending: DrillEnding::Finish,
        }
    }
}

impl DrillConfig {
    /// The specification of a drill with these parameters.
    pub fn spec(&self) -> ProgramSpec {
        // A struct of strings and numbers always has a JSON form.
        let params = serde_json::to_string(self).unwrap_or_default();
        ProgramSpec {
            name: NAME.to_owned(),
            params: Text::new(params),
        }
    }
}

/// A child that a drill spawns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DrillChild {
    /// In which round, counted from zero. Those of one round are asked for together.
    pub round: u32,
    /// What kind of episode.
    pub child_type: ChildType,
    /// What for.
    pub class: SpawnClass,
    /// Why.
    pub trigger: SpawnTrigger,
    /// The least it needs.
    pub at_least: Amounts,
    /// The most it may cost.
    pub at_most: Amounts,
    /// What it may do; as much as its parent when nothing is said.
    pub contract: Option<Contract>,
    /// What it does.
    pub drill: DrillConfig,
}

impl Default for DrillChild {
    fn default() -> Self {
        Self {
            round: 0,
            child_type: NAME.to_owned(),
            class: SpawnClass::Work,
            trigger: SpawnTrigger::TaskPacket,
            at_least: Amounts::ZERO,
            at_most: Amounts::MAX,
            contract: None,
            drill: DrillConfig::default(),
        }
    }
}

/// An effect that a drill wants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrillEffect {
    /// In which round, counted from zero.
    #[serde(default)]
    pub round: u32,
    /// What.
    pub request: EffectRequest,
}
