//! Configuration of `tools`.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::program::NAME;
use fathom_core::effect::{EffectClass, EffectTarget};
use fathom_core::episode::program::ProgramError;
use fathom_core::journal::event::ProgramSpec;
use fathom_core::model::tool_call::ToolSpec;
use fathom_core::unit::Millis;

/// Most turns that may be asked for.
pub const TURNS_CAP: u32 = 100;

/// A tool as the charter offers it. The model has a say in its arguments and in nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfferedTool {
    /// Description for the model.
    pub spec: ToolSpec,
    /// Effect class: whether it only reads.
    #[serde(default)]
    pub class: EffectClass,
    pub target: EffectTarget,
}

/// Configuration of the `tools` program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ToolsConfig {
    pub system: String,
    pub tools: Vec<OfferedTool>,
    /// Subject of the calls, fixed before any model runs. Effect keys are derived from it.
    pub event: String,
    /// Most turns of the model.
    pub turns_max: u32,
    /// Most bytes of a tool's answer that the model is shown.
    pub result_bytes_max: usize,
    /// Output cap of a turn.
    pub output_tokens_max: u32,
    /// Longest time of one attempt at a turn.
    pub timeout: Millis,
    /// Sampling temperature in thousandths.
    pub temperature_milli: Option<u16>,
    /// JSON schema that the answer must meet.
    pub schema: Option<serde_json::Value>,
}

impl Default for ToolsConfig {
    fn default() -> Self {
        Self {
            system: String::new(),
            tools: Vec::new(),
            event: String::new(),
            turns_max: 12,
            result_bytes_max: 8 * 1024,
            output_tokens_max: 1024,
            timeout: Millis(60_000),
            temperature_milli: None,
            schema: None,
        }
    }
}

impl ToolsConfig {
    /// The specification of a `tools` program with these parameters.
    pub fn spec(&self) -> ProgramSpec {
        ProgramSpec::new(NAME, self)
    }

    /// Reads the parameters of a specification.
    pub fn read(spec: &ProgramSpec) -> Result<Self, ProgramError> {
        let params: Self = spec.read_or_usual()?;
        if !(1..=TURNS_CAP).contains(&params.turns_max) {
            let turns = params.turns_max;
            return Err(invalid(format!(
                "`turns_max` is {turns}, not from 1 to {TURNS_CAP}"
            )));
        }
        if !params.tools.is_empty() && params.event.trim().is_empty() {
            return Err(invalid("`event` is empty"));
        }
        let mut names = BTreeSet::new();
        for OfferedTool { spec, .. } in &params.tools {
            if !names.insert(&spec.name) {
                return Err(invalid(format!("there are two tools `{}`", spec.name)));
            }
        }
        Ok(params)
    }

    /// The place of a tool.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.tools.iter().position(|tool| tool.spec.name == name)
    }

    /// Validators of each tool's arguments.
    pub(super) fn validators(&self) -> Result<Vec<jsonschema::Validator>, ProgramError> {
        let validator = |offered: &OfferedTool| {
            let ToolSpec { name, schema, .. } = &offered.spec;
            let schema = serde_json::from_str(schema.as_str())
                .map_err(|error| invalid(format!("schema of tool `{name}`: {error}")))?;
            jsonschema::validator_for(&schema)
                .map_err(|error| invalid(format!("schema of tool `{name}`: {error}")))
        };
        self.tools.iter().map(validator).collect()
    }

    /// Validator of the answer.
    pub(super) fn answer_validator(&self) -> Result<Option<jsonschema::Validator>, ProgramError> {
        let schema = self.schema.as_ref().map(jsonschema::validator_for);
        schema
            .transpose()
            .map_err(|error| invalid(error.to_string()))
    }
}

fn invalid(cause: impl Into<String>) -> ProgramError {
    ProgramError::params(NAME, cause)
}
