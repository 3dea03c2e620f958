//! `fathom agency`: seven roles on a goal, for a brand.

use fathom_host::programs::agency::AgencyOptions;
use fathom_host::programs::{RunContext, RunRequest};
use fathom_programs::agency;

use crate::app::App;
use crate::args::AgencyArgs;
use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::run::launch::{launch, request};
use crate::settings::RunSettings;
use crate::settings::environment;
use crate::settings::inputs;

pub(crate) use fathom_host::programs::agency::CHARTER;

pub(crate) async fn agency(
    asked: AgencyArgs,
    settings: RunSettings,
) -> Result<ExitStatus, CliError> {
    let charter = settings.charter()?;
    let models = settings.model.models(environment::key)?;
    let goal = inputs::question("agency", asked.goal.as_deref())?;
    let options = AgencyOptions {
        set: asked.set.into_iter().collect(),
        lane: asked.lane,
        occasion: asked.occasion,
    };
    let app = App::open(settings)?;
    let request = RunRequest {
        context: RunContext {
            // A path need not be text, which options are.
            paths: vec![asked.brand],
            text: None,
        },
        ..request(&app, agency::NAME, goal, &charter, models)
    };
    launch(&app, request.with_options(&options), Vec::new()).await
}
