//! What a question about large material may be told, how its run is prepared, and what its result says.

use fathom_core::episode::result::EpisodeStatus;
use fathom_core::journal::event::ProgramSpec;
use fathom_core::sandbox::CellLimits;
use fathom_core::unit::Millis;
use fathom_programs::direct;
use fathom_programs::rlm::{self, CellNote, RecipeMode, RlmConfig, RlmReport};
use fathom_sandbox::SandboxMaterial;
use serde::{Deserialize, Serialize};

use super::super::setup::{
    PrepareFuture, PrepareWarning, PreparedRun, ProgramSetup, ResultKeys, ResultSource, RunContext,
    RunRequest, keys,
};
use super::{CHARTER, PlainCallRule, RlmRequest, find_again};
use crate::charter::ModelProfile;
use crate::error::HostError;
use crate::runtime::{NewRun, Runtime};
use crate::view::run::EpisodeView;

/// The setup of `rlm`. Its options are [`RlmOptions`].
#[derive(Clone, Copy, Debug)]
pub struct RlmSetup;

/// What a question about large material may be told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RlmOptions {
    /// JSON schema of the answer.
    pub schema: Option<serde_json::Value>,
    /// Whether leaf calls may be answered with what earlier runs were told.
    pub reuse: bool,
    /// What the model is shown of ready-made cells.
    pub recipes: Option<RecipeMode>,
    /// Most turns of the model.
    pub turns: Option<u32>,
    /// Longest time of one cell.
    pub cell_time: Option<Millis>,
    /// Whether code looks at the material even where it fits into the prompt.
    pub code_always: bool,
    /// Settings of the plain call; the charter's where none are given.
    pub direct: Option<direct::DirectConfig>,
}

impl RlmOptions {
    /// The program's parameters: what was wanted over what suits the model.
    pub fn params(&self, profile: ModelProfile) -> RlmConfig {
        let usual = RlmConfig {
            schema: self.schema.clone(),
            reuse: self.reuse,
            ..RlmConfig::default()
        };
        // A small model reads and writes slowly, and writes code that does not work.
        let mut params = match profile {
            ModelProfile::Local => RlmConfig {
                recipes: RecipeMode::Chosen,
                limits: CellLimits {
                    output: 2 << 10,
                    ..CellLimits::default()
                },
                output_tokens_max: 512,
                leaf_tokens_max: 256,
                timeout: Millis(480_000),
                // What is copied out of the material is nothing to roll dice for.
                temperature_milli: Some(0),
                ..usual
            },
            ModelProfile::Remote => usual,
        };
        if let Some(recipes) = self.recipes {
            params.recipes = recipes;
        }
        if let Some(turns) = self.turns {
            params.turns_max = turns;
        }
        if let Some(time) = self.cell_time {
            params.limits.time = time;
        }
        params
    }
}

impl ProgramSetup for RlmSetup {
    fn name(&self) -> &str {
        rlm::NAME
    }

    fn default_charter(&self) -> &str {
        CHARTER
    }

    fn prepare<'a>(
        &'a self,
        runtime: &'a Runtime,
        mut request: RunRequest<'a>,
    ) -> PrepareFuture<'a> {
        Box::pin(async move {
            let options: RlmOptions = request.take_options()?;
            let RunContext { paths, text } = std::mem::take(&mut request.context);
            let usual = || request.charter.direct.clone().unwrap_or_default();
            let exploration = RlmRequest {
                goal: request.goal.clone(),
                paths,
                text,
                params: options.params(ModelProfile::of(&request.models.main)),
                plain: if options.code_always {
                    PlainCallRule::Never
                } else {
                    PlainCallRule::IfItFits
                },
                direct: options.direct.unwrap_or_else(usual),
            };
            let contract = std::mem::take(&mut request.contract);
            let empty = ProgramSpec::new(rlm::NAME, &());
            let new = request.into_run(empty, contract);
            let explored = runtime
                .explore(exploration, &new.models, &new.frame)
                .await?;
            let skipped = explored.skipped.into_iter();
            Ok(PreparedRun {
                requested: rlm::NAME.to_owned(),
                new: NewRun {
                    program: explored.program,
                    ..new
                },
                context: explored.context,
                warnings: skipped.map(PrepareWarning::Skipped).collect(),
            })
        })
    }

    fn result(&self, source: &ResultSource<'_>) -> ResultKeys {
        let plain = || source.root().map(RlmJson::plain).unwrap_or_default();
        let report = source.report::<RlmReport>(rlm::NAME);
        keys(&report.map_or_else(plain, RlmJson::from))
    }

    fn reread(&self, program: &ProgramSpec) -> Result<Vec<SandboxMaterial>, HostError> {
        let params = RlmConfig::read(program)?;
        params.given.into_iter().map(find_again).collect()
    }
}

/// How an answer about large material was come by.
#[derive(Default, Serialize)]
struct RlmJson {
    /// Turns of the model; none for a plain call.
    iterations: u32,
    subcalls: u64,
    children: u64,
    /// Leaf calls that were answered with what was said before in the run.
    memoised: u64,
    recipes: Vec<String>,
    cells: Vec<CellNote>,
    /// Whether the answer is JSON rather than text.
    is_json: bool,
}

impl RlmJson {
    /// Of a plain call, whose answer is JSON where it was held to a schema.
    fn plain(root: &EpisodeView) -> Self {
        let program = &root.started.program;
        let params = || program.read_or_usual::<direct::DirectConfig>();
        let has_schema =
            program.name == direct::NAME && params().is_ok_and(|params| params.schema.is_some());
        let result = root.result.as_ref();
        Self {
            is_json: has_schema && result.is_some_and(|result| result.status == EpisodeStatus::Ok),
            ..Self::default()
        }
    }
}

impl From<RlmReport> for RlmJson {
    fn from(report: RlmReport) -> Self {
        Self {
            iterations: report.iterations,
            subcalls: report.subcalls,
            children: report.children,
            memoised: report.memoised,
            recipes: report.recipes,
            cells: report.cells,
            is_json: report.is_json,
        }
    }
}
