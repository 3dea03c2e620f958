//! `fathom cancel`: stop a run and keep what it has.

use std::time::Duration;

use fathom_core::id::RunId;
use fathom_host::RunEnd;

use crate::app::App;
use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::run::background_resume::BackgroundResume;
use crate::run::conclude::settle;
use crate::run::follow::follow;
use crate::settings::{OutputFormat, Verbosity};
use crate::terminal::output;
use crate::terminal::styled_line::StyledLine;
use crate::view::result_json;

/// Interval at which the journal is checked for the end of the run.
// Polled, because the owner is another process that signals only through the journal.
const LOOK: Duration = Duration::from_millis(50);

/// Maximum time for the owner to end the run.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) async fn cancel(app: &App, name: &str) -> Result<ExitStatus, CliError> {
    let run = app.find(name)?;
    if let Some(handle) = app.runtime.cancel(run)? {
        let followed = follow(app, vec![handle], BackgroundResume::nothing()).await?;
        for followed in followed {
            // A run that waits for its model is not over; anything else that came back is told as an error.
            if !matches!(followed.end, RunEnd::Finished(_)) {
                settle(followed)?;
            }
        }
    } else {
        let ended = tokio::time::timeout(PATIENCE, ended(app, run)).await;
        // The cancellation is recorded and stays valid, so running out of time is only reported.
        ended.map_err(|_| CliError::StillRunning { run })??;
    }
    tell(app, run)
}

/// Waits until the journal says that the run is over.
async fn ended(app: &App, run: RunId) -> Result<(), CliError> {
    let mut looks = tokio::time::interval(LOOK);
    while !app.runtime.info(run)?.state.is_finished() {
        looks.tick().await;
    }
    Ok(())
}

fn tell(app: &App, run: RunId) -> Result<ExitStatus, CliError> {
    let story = app.runtime.story(run)?;
    if app.settings.form == OutputFormat::Json {
        if let Some(result) = result_json::of(run, &story, Vec::new()) {
            output::print_json(&result)?;
        }
        return Ok(ExitStatus::Ok);
    }
    let result = story.root().and_then(|root| root.result.as_ref());
    if app.settings.loudness != Verbosity::Quiet {
        let stop = result.map_or_else(String::new, |result| result.stop_reason.to_string());
        output::say(&[StyledLine::from(format!(
            "run {} ended: {stop}",
            app.short(run)
        ))]);
    }
    if let Some(answer) = result.and_then(result_json::answer) {
        output::print_answer(&answer)?;
    }
    Ok(ExitStatus::Ok)
}
