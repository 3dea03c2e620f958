//! `fathom resume`: resumes one unfinished run, or all of them.

use fathom_host::RunHandle;
use serde::Serialize;

use super::approvals;
use crate::app::App;
use crate::error::{CliError, ErrorJson};
use crate::exit_code::ExitStatus;
use crate::run::background_resume::BackgroundResume;
use crate::run::conclude::{conclude, settle};
use crate::run::follow::{FinishedRun, follow};
use crate::settings::{OutputFormat, Verbosity};
use crate::terminal::output;
use crate::terminal::styled_line::StyledLine;
use crate::view::approval::ApprovalJson;
use crate::view::result_json::{self, ResultJson};

/// Runs that are resumed at once.
// All of them run at once in this process.
const RUNS_MAX: usize = 64;

#[derive(Serialize)]
struct ResumedJson {
    results: Vec<OneJson>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum OneJson {
    Result(Box<ResultJson>),
    Error(ErrorJson),
}

pub(crate) async fn resume(app: &App, name: Option<&str>) -> Result<ExitStatus, CliError> {
    let Some(name) = name else {
        return resume_all(app).await;
    };
    let run = app.find(name)?;
    let handle = app.runtime.resume(run)?;
    let followed = follow(app, vec![handle], BackgroundResume::nothing()).await?;
    match (app.settings.form, followed.into_iter().next()) {
        (_, None) => Ok(ExitStatus::Bug),
        (OutputFormat::Human, Some(followed)) => conclude(app, followed, Vec::new()),
        (OutputFormat::Json, Some(followed)) => {
            let (followed, exit) = settle(followed)?;
            let result = told(app, &followed)?;
            let results = result.map(|result| OneJson::Result(Box::new(result)));
            output::print_json(&ResumedJson {
                results: results.into_iter().collect(),
            })?;
            Ok(exit)
        }
    }
}

/// Result of a run, as a program reads it.
pub(super) fn told(app: &App, followed: &FinishedRun) -> Result<Option<ResultJson>, CliError> {
    let asked = approvals::asked_by(app, followed)?;
    let asked = asked.into_iter().map(ApprovalJson::from).collect();
    let result = result_json::of(followed.run, &followed.story, Vec::new());
    Ok(result.map(|result| result.asking(asked)))
}

async fn resume_all(app: &App) -> Result<ExitStatus, CliError> {
    let mut handles: Vec<RunHandle> = Vec::new();
    let mut failures = Vec::new();
    for run in app.runtime.unfinished()?.into_iter().take(RUNS_MAX) {
        match app.runtime.resume(run) {
            Ok(handle) => handles.push(handle),
            // One run that cannot be resumed must not hold up the others.
            Err(error) => failures.push(CliError::Run { run, error }),
        }
    }
    if handles.is_empty() && failures.is_empty() && app.settings.loudness != Verbosity::Quiet {
        output::say(&[StyledLine::from("no unfinished runs")]);
    }
    let mut followed = follow(app, handles, BackgroundResume::nothing()).await?;
    // One answer goes to stdout; several would run into each other, and `fathom show` prints each.
    if app.settings.form == OutputFormat::Human
        && failures.is_empty()
        && followed.len() == 1
        && let Some(only) = followed.pop()
    {
        return conclude(app, only, Vec::new());
    }
    report(app, followed, failures)
}

/// Tells how every run came back; the gravest of the exits is the command's.
fn report(
    app: &App,
    followed: Vec<FinishedRun>,
    failures: Vec<CliError>,
) -> Result<ExitStatus, CliError> {
    let mut worst = ExitStatus::Ok;
    let mut results = Vec::new();
    let settled = followed.into_iter().map(settle);
    for one in settled.chain(failures.into_iter().map(Err)) {
        match one {
            Ok((followed, exit)) => {
                // One exit code for many runs, so it is the gravest.
                worst = worst.max(exit);
                if app.settings.form == OutputFormat::Human {
                    approvals::say_asked(app, &followed)?;
                }
                let result = told(app, &followed)?;
                results.extend(result.map(|result| OneJson::Result(Box::new(result))));
            }
            Err(error) => {
                worst = worst.max(error.exit());
                output::say(&error.lines());
                results.push(OneJson::Error(error.json()));
            }
        }
    }
    if app.settings.form == OutputFormat::Json {
        output::print_json(&ResumedJson { results })?;
    }
    Ok(worst)
}
