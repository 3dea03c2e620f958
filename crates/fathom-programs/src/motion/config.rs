//! Configuration of `motion`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::program::NAME;
use fathom_core::council_bus::CouncilRole;
use fathom_core::episode::program::ProgramError;
use fathom_core::journal::event::ProgramSpec;
use fathom_core::packet::PacketRisk;
use fathom_core::unit::{Millis, PerMille};

/// Configuration of the `motion` program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MotionConfig {
    /// The proposal; the episode's goal if blank.
    pub proposal: String,
    /// The role in whose name it is proposed.
    pub proposer: CouncilRole,
    /// Stakes of the proposal.
    pub risk: PacketRisk,
    /// Confidence of the proposing side, in thousandths.
    pub confidence: Option<PerMille>,
    /// Longest time the vote stays open, in active time of the episode.
    pub deadline: Millis,
    /// The roles that vote. An escalation brings Prime in where it is not among them.
    pub roles: Vec<CouncilRole>,
    /// Extra instructions to each role.
    pub instructions: BTreeMap<CouncilRole, String>,
    /// Output cap of a call.
    pub output_tokens_max: u32,
    /// Sampling temperature in thousandths.
    pub temperature_milli: Option<u16>,
    /// Longest time of one attempt at a call.
    pub timeout: Millis,
}

impl Default for MotionConfig {
    fn default() -> Self {
        Self {
            proposal: String::new(),
            proposer: CouncilRole::Prime,
            risk: PacketRisk::Low,
            confidence: None,
            deadline: Millis(600_000),
            roles: CouncilRole::ALL.to_vec(),
            instructions: BTreeMap::new(),
            output_tokens_max: 320,
            temperature_milli: Some(0),
            timeout: Millis(120_000),
        }
    }
}

impl MotionConfig {
    /// The specification of a `motion` program with these parameters.
    pub fn spec(&self) -> ProgramSpec {
        ProgramSpec::new(NAME, self)
    }

    pub(super) fn read(spec: &ProgramSpec) -> Result<Self, ProgramError> {
        let params: Self = spec.read_or_usual()?;
        if params.roles.is_empty() {
            let cause = "`roles` names nobody who votes";
            return Err(ProgramError::params(NAME, cause));
        }
        Ok(params)
    }
}
