//! Parameters of a drill.

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

/// Ending of a drill once its rounds are over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DrillEnding {
    /// With a result.
    #[default]
    Finish,
    /// With a result, while it asks for a child and a call that it does not wait for.
    Abrupt,
    /// It says that it failed.
    Fail,
    /// It asks for nothing more and never finishes; the governor notices.
    Idle,
}

/// Parameters of a drill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of its own in the parameters"
)]
pub struct DrillConfig {
    /// Prompt of the model calls; each call adds its place.
    pub prompt: String,
    /// Rounds, one after another.
    pub rounds: u32,
    /// Model calls in each round, all at once.
    pub calls: u32,
    /// Output cap of a call.
    pub output_tokens_max: u32,
    /// Output cap below which a call is of no use.
    pub output_tokens_min: u32,
    /// Arrival of replies.
    pub delivery: ReplyMode,
    /// Longest time of one attempt.
    pub timeout: Millis,
    /// True if it waits for a person when a model cannot be reached.
    pub waits_out_outages: bool,
    /// Children, each in its round.
    pub children: Vec<DrillChild>,
    /// Effects, each in its round.
    pub effects: Vec<DrillEffect>,
    /// Number of open calls of a round that it cancels when the first of them is answered.
    pub cancels: u32,
    /// Number of failed or refused asks that it repeats.
    pub retries: u32,
    /// True if it repeats an effect that certainly did not happen until it does. It does not repeat a denied one,
    /// unless the reason was that nobody decided in time.
    pub insists: bool,
    /// True if it has a text shortened in each round.
    pub summarises: bool,
    /// True if it emits a block in each round.
    pub emits: bool,
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
    /// Type of the child episode.
    pub child_type: ChildType,
    pub class: SpawnClass,
    pub trigger: SpawnTrigger,
    /// The least it needs.
    pub at_least: Amounts,
    /// The most it may cost.
    pub at_most: Amounts,
    /// Contract of the child; its parent's if absent.
    pub contract: Option<Contract>,
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
    pub request: EffectRequest,
}
