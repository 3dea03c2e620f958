//! Configuration of `stages`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::program::NAME;
use crate::tools_loop::OfferedTool;
use fathom_core::channel::delivery::ChannelRoute;
use fathom_core::channel::marker::Marker;
use fathom_core::council_bus::CouncilRole;
use fathom_core::effect::undo::InverseTool;
use fathom_core::episode::program::ProgramError;
use fathom_core::journal::event::ProgramSpec;
use fathom_core::unit::Millis;

/// Most attempts at acting, whatever the council says.
const ACTS_CAP: u32 = 16;

/// A command that may stand in an `EXECUTE:` block. Its first word is the tool's name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StageAction {
    /// The tool, as the charter offers it.
    pub offered: OfferedTool,
    /// Command that undoes this one, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inverse: Option<InverseTool>,
}

/// Council role of each stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StageRoles {
    /// Plans.
    pub plan: CouncilRole,
    /// Judges the plan.
    pub refine: CouncilRole,
    /// Reads along while the acting model speaks.
    pub observe: CouncilRole,
    /// Acts and answers.
    pub act: CouncilRole,
    /// Judges what came of it.
    pub verify: CouncilRole,
}

impl Default for StageRoles {
    fn default() -> Self {
        Self {
            plan: CouncilRole::Prime,
            refine: CouncilRole::Lite,
            observe: CouncilRole::Lite,
            act: CouncilRole::Prime,
            verify: CouncilRole::Lite,
        }
    }
}

/// Configuration of the `stages` program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StagesConfig {
    /// Standing instructions of every stage.
    pub system: String,
    /// Council role of each stage.
    pub cast: StageRoles,
    /// Commands that may be run.
    pub actions: Vec<StageAction>,
    /// Channels of blocks by marker. Without any, blocks stay in the record.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub routes: BTreeMap<String, Vec<ChannelRoute>>,
    /// Subject of the commands, fixed before any model runs. Effect keys are derived from it.
    pub event: String,
    /// Characters of the acting model after which the observer looks again.
    pub look_every: u32,
    /// Retries of a stage whose reply lacks its block.
    pub retries: u32,
    /// Interrupts that raise the risk to high.
    pub interrupts_max: u32,
    /// Most attempts at acting.
    pub acts_max: u32,
    /// Output cap of planning and acting.
    pub output_tokens_max: u32,
    /// Output cap of judging.
    pub look_tokens_max: u32,
    /// Sampling temperature in thousandths.
    pub temperature_milli: Option<u16>,
    /// True if replies are constrained to their form while they are generated, which small models need.
    pub structured: bool,
    /// Longest time of one attempt at a call.
    pub timeout: Millis,
    /// The roles that vote where something is escalated.
    pub council: Vec<CouncilRole>,
}

impl Default for StagesConfig {
    fn default() -> Self {
        Self {
            system: String::new(),
            cast: StageRoles::default(),
            actions: Vec::new(),
            routes: BTreeMap::new(),
            event: String::new(),
            look_every: 600,
            retries: 1,
            interrupts_max: 3,
            acts_max: 6,
            output_tokens_max: 1024,
            look_tokens_max: 96,
            temperature_milli: None,
            structured: false,
            timeout: Millis(60_000),
            council: CouncilRole::ALL.to_vec(),
        }
    }
}

impl StagesConfig {
    /// The specification of a `stages` program with these parameters.
    pub fn spec(&self) -> ProgramSpec {
        ProgramSpec::new(NAME, self)
    }

    /// Reads the parameters of a specification.
    pub fn read(spec: &ProgramSpec) -> Result<Self, ProgramError> {
        let params: Self = spec.read_or_usual()?;
        if params.look_every == 0 || params.interrupts_max == 0 || params.council.is_empty() {
            let cause = "`look_every`, `interrupts_max` and `council` must say something";
            return Err(ProgramError::params(NAME, cause));
        }
        if !(1..=ACTS_CAP).contains(&params.acts_max) {
            let cause = format!(
                "`acts_max` is {}, the hard cap is {ACTS_CAP}",
                params.acts_max
            );
            return Err(ProgramError::params(NAME, cause));
        }
        let mut names: Vec<&str> = params.actions.iter().map(StageAction::name).collect();
        names.sort_unstable();
        if names.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(ProgramError::params(NAME, "an action is there twice"));
        }
        let lost = params
            .actions
            .iter()
            .filter_map(|one| Some(one.inverse.as_ref()?.tool.as_str()));
        if let Some(lost) = lost.into_iter().find(|name| params.action(name).is_none()) {
            let cause = format!("there is no action `{lost}` to take one back");
            return Err(ProgramError::params(NAME, cause));
        }
        Ok(params)
    }

    /// Channels for blocks under `marker`.
    pub fn ways(&self, marker: Marker) -> &[ChannelRoute] {
        self.routes.get(marker.as_str()).map_or(&[], Vec::as_slice)
    }

    /// The action that a command begins with.
    pub(super) fn action(&self, name: &str) -> Option<&StageAction> {
        self.actions.iter().find(|one| one.name() == name)
    }
}

impl StageAction {
    /// The word that a command begins with.
    pub fn name(&self) -> &str {
        &self.offered.spec.name
    }
}
