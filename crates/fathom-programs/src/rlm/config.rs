//! Configuration of `rlm`.

use serde::{Deserialize, Serialize};

use super::program::NAME;
use fathom_core::episode::program::ProgramError;
use fathom_core::id::Digest;
use fathom_core::journal::event::ProgramSpec;
use fathom_core::sandbox::{CellLimits, ContextSource, ValueFormat};
use fathom_core::unit::Millis;

/// Place from which a piece of material is loaded again after a restart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum MaterialSource {
    /// In a file, which must still have the same digest.
    File {
        /// Its path, absolute.
        path: String,
    },
    /// The same, where the path is no text.
    FileInBytes {
        /// Its path, absolute, byte by byte.
        path: Vec<u8>,
    },
    /// Here, because it came from nowhere that could be read again.
    Here {
        /// All of it.
        text: String,
    },
    /// In a question of the parent's cell.
    Passed,
}

/// A piece of material, as the model is told of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MaterialItem {
    pub name: String,
    /// Form of its value in the sandbox.
    pub form: ValueFormat,
    /// Its length in bytes of UTF-8.
    pub bytes: u64,
    /// Its length in characters.
    pub chars: u64,
    /// Its lines; for a list its entries.
    pub lines: u64,
    /// Its first characters, shown to the model.
    pub preview: String,
    /// SHA-256 of what it says.
    pub digest: Digest,
    pub place: MaterialSource,
}

/// Offer of ready-made cells to the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecipeMode {
    /// Nothing: it writes its own.
    Off,
    /// That it may use them.
    #[default]
    Offered,
    /// It only chooses one and fills it in; writing its own comes last.
    Chosen,
}

/// Configuration of the `rlm` program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RlmConfig {
    pub given: Vec<MaterialItem>,
    /// Files left out of the material, each with the reason.
    pub skipped: Vec<String>,
    /// Origin of `context`.
    pub source: ContextSource,
    /// JSON schema that the answer must meet.
    pub schema: Option<serde_json::Value>,
    /// Most turns of the model.
    pub turns_max: u32,
    /// Limits of a cell.
    pub limits: CellLimits,
    /// Output cap of a turn.
    pub output_tokens_max: u32,
    /// Output cap of a leaf call, where the code does not say less.
    pub leaf_tokens_max: u32,
    /// Longest time of one attempt at a turn or a leaf call.
    pub timeout: Millis,
    /// Sampling temperature in thousandths.
    pub temperature_milli: Option<u16>,
    /// True if leaf calls may be answered from earlier runs.
    pub reuse: bool,
    /// Offer of ready-made cells to the model.
    pub recipes: RecipeMode,
}

impl Default for RlmConfig {
    fn default() -> Self {
        Self {
            given: Vec::new(),
            skipped: Vec::new(),
            source: ContextSource::Given,
            schema: None,
            turns_max: 20,
            limits: CellLimits::default(),
            output_tokens_max: 2048,
            leaf_tokens_max: 1024,
            timeout: Millis(60_000),
            temperature_milli: None,
            reuse: false,
            recipes: RecipeMode::Offered,
        }
    }
}

impl RlmConfig {
    /// The specification of an `rlm` program with these parameters.
    pub fn spec(&self) -> ProgramSpec {
        ProgramSpec::new(NAME, self)
    }

    /// Reads the parameters of a specification.
    pub fn read(spec: &ProgramSpec) -> Result<Self, ProgramError> {
        spec.read_or_usual()
    }
}
