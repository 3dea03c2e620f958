//! Requests to spawn an episode: a class, a trigger that belongs to it, and what is wanted back.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::budget::amounts::Amounts;
use crate::contract::{AgentRole, ChildType, Contract};
use crate::journal::event::ProgramSpec;
use crate::text::{Text, VisitTexts};
use crate::unit::Millis;

/// The purpose of a spawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpawnClass {
    /// A: find what is missing.
    Retrieval,
    /// B: judge what was made.
    Critique,
    /// C: repair a failed step.
    Repair,
    /// D: confirm what was done.
    Verification,
    /// W: do a part of the work.
    Work,
}

impl fmt::Display for SpawnClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Retrieval => "A retrieval",
            Self::Critique => "B critique",
            Self::Repair => "C repair",
            Self::Verification => "D verification",
            Self::Work => "W work",
        })
    }
}

/// The occasion for a spawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpawnTrigger {
    /// A capsule that is needed is not there.
    MissingCapsule,
    /// Nobody confirmed that the platform can do this.
    UnconfirmedCapability,
    /// A blueprint's template is not there.
    MissingTemplate,
    /// The output does not meet its rubric.
    RubricFailed,
    /// A high-stakes action is planned.
    HighStakesAction,
    /// A tool failed in a way that may pass.
    RetryableToolFailure,
    /// A page no longer looks as it did.
    BrowserDrift,
    /// A payload did not pass its check.
    InvalidPayload,
    /// An effect was attempted.
    EffectAttempted,
    /// Nobody knows whether the effect can be seen.
    VisibilityUncertain,
    /// The same may go out twice.
    DuplicateRisk,
    /// Nobody held a capsule against its source.
    UnprovenCapsule,
    /// The question is complex.
    ComplexQuestion,
    /// The input is larger than a window.
    OversizedInput,
    /// A host command dispatched a task.
    DispatchedTask,
    /// The orchestrator handed out a task packet.
    TaskPacket,
}

impl SpawnTrigger {
    /// The one class this trigger belongs to.
    pub const fn class(self) -> SpawnClass {
        match self {
            Self::MissingCapsule | Self::UnconfirmedCapability | Self::MissingTemplate => {
                SpawnClass::Retrieval
            }
            Self::RubricFailed | Self::HighStakesAction => SpawnClass::Critique,
            Self::RetryableToolFailure | Self::BrowserDrift | Self::InvalidPayload => {
                SpawnClass::Repair
            }
            Self::EffectAttempted
            | Self::VisibilityUncertain
            | Self::DuplicateRisk
            | Self::UnprovenCapsule => SpawnClass::Verification,
            Self::ComplexQuestion
            | Self::OversizedInput
            | Self::DispatchedTask
            | Self::TaskPacket => SpawnClass::Work,
        }
    }
}

/// A request to spawn one child episode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpawnRequest {
    /// Kind of the child.
    pub child_type: ChildType,
    pub class: SpawnClass,
    pub trigger: SpawnTrigger,
    pub why: Text,
    /// The information or work that is expected.
    pub fetch: Text,
    /// The form the result must have.
    pub return_format: Text,
    pub goal: Text,
    pub role: AgentRole,
    pub program: ProgramSpec,
    /// Never wider than its parent's.
    pub contract: Contract,
    /// The least it needs to be of use; below this it is not started.
    pub at_least: Amounts,
    /// The most it may cost.
    pub at_most: Amounts,
    /// The most time it may take, when that is less than its parent has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_max: Option<Millis>,
}

impl VisitTexts for SpawnRequest {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        f(&mut self.why);
        f(&mut self.fetch);
        f(&mut self.return_format);
        f(&mut self.goal);
        self.program.each_text(f);
    }
}
