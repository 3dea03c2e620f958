//! `fathom think`: a task in stages, with an observer who reads along.

use fathom_core::budget::amounts::Budget;
use fathom_core::contract::Contract;
use fathom_core::model::ModelSet;
use fathom_core::text::Text;
use fathom_core::unit::Millis;
use fathom_host::NewRun;
use fathom_host::charter::{Charter, ModelProfile};
use fathom_programs::stages::StagesConfig;

use super::think_idle::idle;
use crate::app::App;
use crate::args::ThinkArgs;
use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::run::embedded_models;
use crate::run::launch::launch;
use crate::settings::RunSettings;
use crate::settings::environment;
use crate::settings::inputs;

/// The charter of a run for which none is named.
pub(crate) const CHARTER: &str = "gaia";

pub(crate) async fn think(asked: ThinkArgs, settings: RunSettings) -> Result<ExitStatus, CliError> {
    if asked.idle {
        let mind = Box::pin(ThinkSetup::open(settings)).await?;
        return Box::pin(idle(&asked, &mind)).await;
    }
    let question = inputs::question("think", asked.question.as_deref())?;
    let mind = Box::pin(ThinkSetup::open(settings)).await?;
    let contract = mind.contract.clone();
    let budget = mind.app.settings.budget;
    let new = mind.run(Text::new(question), &mind.params, contract, budget);
    launch(&mind.app, new, mind.warnings).await
}

/// What every run in stages under these settings begins with.
pub(super) struct ThinkSetup {
    pub(super) app: App,
    pub(super) charter: Charter,
    pub(super) models: ModelSet,
    pub(super) params: StagesConfig,
    pub(super) contract: Contract,
    pub(super) warnings: Vec<String>,
}

impl ThinkSetup {
    async fn open(settings: RunSettings) -> Result<Self, CliError> {
        let charter = settings.charter()?;
        let mut models = charter.cast(settings.model.models(environment::key)?);
        let app = App::open(settings)?;
        let mut warnings: Vec<String> = charter.warnings.iter().map(ToString::to_string).collect();
        warnings.extend(embedded_models::settle(&app.runtime, &mut models)?);
        let usual = charter.stages.clone().unwrap_or_default();
        // A small model forgets its form, and is slow.
        let params = match ModelProfile::of(&models.main) {
            ModelProfile::Local => StagesConfig {
                structured: true,
                output_tokens_max: usual.output_tokens_max.min(384),
                timeout: Millis(480_000),
                ..usual
            },
            ModelProfile::Remote => usual,
        };
        let base = app.settings.contract();
        let (params, contract) = app.runtime.stages_params(&charter, params, base).await?;
        Ok(Self {
            app,
            charter,
            models,
            params,
            contract,
            warnings,
        })
    }

    pub(super) fn run(
        &self,
        goal: Text,
        params: &StagesConfig,
        contract: Contract,
        budget: Budget,
    ) -> NewRun {
        NewRun {
            goal,
            program: params.spec(),
            contract,
            budget,
            models: self.models.clone(),
            frame: self.charter.frame(),
        }
    }
}
