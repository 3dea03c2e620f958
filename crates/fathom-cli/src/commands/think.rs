//! `fathom think`: a task in stages, with an observer who reads along.

use fathom_core::programs::stages::Params;
use fathom_core::text::Text;
use fathom_core::unit::Millis;
use fathom_host::NewRun;
use fathom_host::charter::Profile;

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
    let charter = settings.charter()?;
    let mut models = charter.cast(settings.model.models(environment::key)?);
    let question = inputs::question("think", asked.question.as_deref())?;
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
    let new = NewRun {
        goal: Text::new(question),
        program: params.spec(),
        contract: app.settings.contract(),
        budget: app.settings.budget,
        models,
        frame: charter.frame(),
    };
    launch(&app, new, warnings).await
}
