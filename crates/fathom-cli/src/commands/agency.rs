//! `fathom agency`: seven roles on a goal, for a brand.

use std::collections::BTreeMap;

use fathom_core::text::Text;
use fathom_host::NewRun;
use fathom_host::programs::agency::{AgencyRequest, BrandFolder, prepare};

use crate::app::App;
use crate::args::AgencyArgs;
use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::run::embedded_models;
use crate::run::launch::launch;
use crate::settings::RunSettings;
use crate::settings::environment;
use crate::settings::inputs;

/// The charter of a run for which none is named.
pub(crate) const CHARTER: &str = "agency";

pub(crate) async fn agency(
    asked: AgencyArgs,
    settings: RunSettings,
) -> Result<ExitStatus, CliError> {
    let charter = settings.charter()?;
    let mut models = charter.cast(settings.model.models(environment::key)?);
    let goal = inputs::question("agency", asked.goal.as_deref())?;
    let set: BTreeMap<String, String> = asked.set.into_iter().collect();
    let brand = BrandFolder::read(&asked.brand, &set)?;
    let app = App::open(settings)?;
    let mut warnings: Vec<String> = charter.warnings.iter().map(ToString::to_string).collect();
    warnings.extend(embedded_models::settle(&app.runtime, &mut models)?);
    let commission = AgencyRequest {
        goal: &goal,
        brand: &brand,
        lane: &asked.lane,
        occasion: asked.occasion.as_deref(),
        models: &models,
    };
    let (params, contract) = prepare(&charter, &commission, app.settings.contract())?;
    let mut frame = charter.frame();
    frame.values = brand.values;
    let new = NewRun {
        goal: Text::new(goal),
        program: params.spec(),
        contract,
        budget: app.settings.budget,
        models,
        frame,
    };
    launch(&app, new, warnings).await
}
