//! Rights of an episode: recursion policy, scopes and permission mode.

pub mod spawn;
pub mod stop;

use serde::{Deserialize, Serialize};

use crate::contract::spawn::SpawnClass;

/// A kind of child episode, as `verify` or `critique`.
pub type ChildType = String;

/// Limits that no configuration may lift.
pub mod cap {
    use crate::unit::Millis;

    /// Deepest tree of episodes below the root.
    pub const DEPTH_MAX: u8 = 4;
    /// Most children of one episode.
    pub const CHILDREN_MAX: u32 = 10_000;
    /// Most episodes in a run.
    pub const EPISODES_MAX: u32 = 10_000;
    /// Most times an error class may repeat before an episode stops.
    pub const REPEATS_MAX: u32 = 100;
    /// Most times in a row a program may answer a refusal with another ask before anything else happens.
    // High, for thousands of asks may be refused together without any loop; yet a program that only collects refusals
    // must end.
    pub const REFUSALS_MAX: u32 = 10_000;
    /// A moment that a program waits for lies at least so far ahead.
    // A program that asked for the present moment would otherwise be woken without end.
    pub const WAKE_AHEAD_MIN: Millis = Millis(10);
}

/// Child types that must be authorised by name in `allowed_child_types` and taken off the forbidden list.
// These speak in public or to people outside.
pub const FORBIDDEN_BY_DEFAULT: [&str; 2] = ["publish", "engage"];

/// Conditions, beyond its budget, under which an episode must stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StopConditions {
    /// Children in a row that may bring nothing new.
    pub no_delta_children_max: u32,
    /// Times in a row the same error class may occur.
    pub same_error_max: u32,
}

impl Default for StopConditions {
    fn default() -> Self {
        Self {
            no_delta_children_max: 2,
            same_error_max: 3,
        }
    }
}

/// Rules for spawning. The default allows no child at all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RecursionPolicy {
    /// Deepest episode below the root; zero turns recursion off.
    pub max_depth: u8,
    /// Most children of one episode.
    pub max_children: u32,
    /// Most episodes in the tree, the root included.
    pub max_total_episodes: u32,
    /// Child types that may be spawned. Nothing is allowed that is not listed.
    pub allowed_child_types: Vec<ChildType>,
    /// Child types that may not, whatever the other list says.
    pub forbidden_child_types: Vec<ChildType>,
    /// Classes that may be spawned. Work must be listed to be allowed.
    pub allowed_classes: Vec<SpawnClass>,
    pub stop_conditions: StopConditions,
}

impl Default for RecursionPolicy {
    fn default() -> Self {
        Self {
            max_depth: 2,
            max_children: 6,
            max_total_episodes: 12,
            allowed_child_types: Vec::new(),
            forbidden_child_types: FORBIDDEN_BY_DEFAULT.map(str::to_owned).to_vec(),
            allowed_classes: vec![
                SpawnClass::Retrieval,
                SpawnClass::Critique,
                SpawnClass::Repair,
                SpawnClass::Verification,
            ],
            stop_conditions: StopConditions::default(),
        }
    }
}

/// A policy value above its hard cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{key}` is {value}, above the hard cap of {cap}")]
pub struct HardCapExceeded {
    /// The key as it stands in a file.
    pub key: &'static str,
    /// The value asked for.
    pub value: u64,
    /// The most there may be.
    pub cap: u64,
}

impl RecursionPolicy {
    /// Checks every value against its hard cap.
    pub fn check(&self) -> Result<(), HardCapExceeded> {
        let limits: [(&'static str, u64, u64); 5] = [
            ("max_depth", self.max_depth.into(), cap::DEPTH_MAX.into()),
            (
                "max_children",
                self.max_children.into(),
                cap::CHILDREN_MAX.into(),
            ),
            (
                "max_total_episodes",
                self.max_total_episodes.into(),
                cap::EPISODES_MAX.into(),
            ),
            (
                "same_error_max",
                self.stop_conditions.same_error_max.into(),
                cap::REPEATS_MAX.into(),
            ),
            (
                "no_delta_children_max",
                self.stop_conditions.no_delta_children_max.into(),
                cap::REPEATS_MAX.into(),
            ),
        ];
        match limits.into_iter().find(|(_, value, cap)| value > cap) {
            Some((key, value, cap)) => Err(HardCapExceeded { key, value, cap }),
            None => Ok(()),
        }
    }
}

/// The part an episode plays in a team of agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentRole {
    /// Splits work and coordinates.
    Orchestrator,
    /// Writes plans.
    Planner,
    /// Makes assets.
    Creator,
    /// Publishes.
    Publisher,
    /// Answers people.
    Engagement,
    /// Proves what was done.
    Verifier,
    /// Writes the journal.
    Doc,
}

impl std::fmt::Display for AgentRole {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Orchestrator => "orchestrator",
            Self::Planner => "planner",
            Self::Creator => "creator",
            Self::Publisher => "publisher",
            Self::Engagement => "engagement",
            Self::Verifier => "verifier",
            Self::Doc => "doc",
        })
    }
}

/// The degree to which an episode acts by itself.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Autonomy {
    /// It says what it would do.
    #[default]
    Suggest,
    /// It does what a person said yes to.
    Approve,
    /// It does what the policies allow.
    Act,
}

/// The permission to change the world outside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PermissionMode {
    /// It may not: what it wants done is handed to its parent.
    #[default]
    ReadOnly,
    /// It may propose effects to the gateway.
    Act,
}

/// Everything an episode may do, fixed before it starts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Contract {
    pub recursion: RecursionPolicy,
    /// Tools it may call; none unless named.
    pub allowed_tools: Vec<String>,
    /// Domains it may read; none unless named.
    pub read_scopes: Vec<String>,
    /// Domains it may write; none unless named.
    pub write_scopes: Vec<String>,
    pub permission_mode: PermissionMode,
    pub autonomy: Autonomy,
}
