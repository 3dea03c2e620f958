//! `fathom think`: a task in stages, with an observer who reads along.

use fathom_host::charter::Charter;
use fathom_host::programs::PreparedRun;
use fathom_programs::stages;

use super::think_idle::idle;
use crate::app::App;
use crate::args::ThinkArgs;
use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::run::launch::{prepare, request, start};
use crate::settings::RunSettings;
use crate::settings::environment;
use crate::settings::inputs;

pub(crate) use fathom_host::programs::stages::CHARTER;

pub(crate) async fn think(asked: ThinkArgs, settings: RunSettings) -> Result<ExitStatus, CliError> {
    if asked.idle {
        let mind = Box::pin(ThinkSetup::open(settings, String::new())).await?;
        return Box::pin(idle(&asked, &mind)).await;
    }
    let question = inputs::question("think", asked.question.as_deref())?;
    let ThinkSetup { app, prepared, .. } = Box::pin(ThinkSetup::open(settings, question)).await?;
    start(&app, prepared, Vec::new()).await
}

/// What every run in stages under these settings begins with.
pub(super) struct ThinkSetup {
    pub(super) app: App,
    pub(super) charter: Charter,
    pub(super) prepared: PreparedRun,
}

impl ThinkSetup {
    async fn open(settings: RunSettings, goal: String) -> Result<Self, CliError> {
        let charter = settings.charter()?;
        let models = settings.model.models(environment::key)?;
        let app = App::open(settings)?;
        let request = request(&app, stages::NAME, goal, &charter, models);
        let prepared = prepare(&app, request).await?;
        Ok(Self {
            app,
            charter,
            prepared,
        })
    }
}
