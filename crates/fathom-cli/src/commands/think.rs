//! `fathom think`: a task in stages, with an observer who reads along.

use fathom_core::amounts::Budget;
use fathom_core::contract::Contract;
use fathom_core::model::Models;
use fathom_core::programs::stages::Params;
use fathom_core::text::Text;
use fathom_core::unit::Millis;
use fathom_host::NewRun;
use fathom_host::charter::{Charter, Profile};

use super::idle::idle;
use super::launch::launch;
use crate::app::App;
use crate::embedded;
use crate::environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::inputs;
use crate::settings::Settings;
use crate::typed::Think;

/// The charter of a run for which none is named.
pub(crate) const CHARTER: &str = "gaia";

pub(crate) async fn think(asked: Think, settings: Settings) -> Result<Exit, CliError> {
    if asked.idle {
        let mind = Box::pin(Mind::open(settings)).await?;
        return Box::pin(idle(&asked, &mind)).await;
    }
    let question = inputs::question("think", asked.question.as_deref())?;
    let mind = Box::pin(Mind::open(settings)).await?;
    let contract = mind.contract.clone();
    let budget = mind.app.settings.budget;
    let new = mind.run(Text::new(question), &mind.params, contract, budget);
    launch(&mind.app, new, mind.warnings).await
}

/// What every run in stages under these settings begins with.
pub(super) struct Mind {
    pub(super) app: App,
    pub(super) charter: Charter,
    pub(super) models: Models,
    pub(super) params: Params,
    pub(super) contract: Contract,
    pub(super) warnings: Vec<String>,
}

impl Mind {
    async fn open(settings: Settings) -> Result<Self, CliError> {
        let charter = settings.charter()?;
        let mut models = charter.cast(settings.model.models(environment::key)?);
        let app = App::open(settings)?;
        let mut warnings: Vec<String> = charter.warnings.iter().map(ToString::to_string).collect();
        warnings.extend(embedded::settle(&app.runtime, &mut models)?);
        let usual = charter.stages.clone().unwrap_or_default();
        // A small model forgets its form, and is slow.
        let params = match Profile::of(&models.main) {
            Profile::Local => Params {
                structured: true,
                output_tokens_max: usual.output_tokens_max.min(384),
                timeout: Millis(480_000),
                ..usual
            },
            Profile::Remote => usual,
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
        params: &Params,
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
