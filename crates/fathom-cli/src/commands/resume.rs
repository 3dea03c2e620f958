//! `fathom resume`: go on with one unfinished run, or with all of them.

use fathom_host::RunHandle;
use serde::Serialize;

use super::ended::{conclude, settle};
use super::people;
use crate::app::App;
use crate::approval_view::ApprovalJson;
use crate::beside::Beside;
use crate::error::{CliError, ErrorJson};
use crate::exit::Exit;
use crate::follow::{Followed, follow};
use crate::line::Line;
use crate::output;
use crate::result_json::{self, ResultJson};
use crate::settings::{Form, Loudness};

/// Runs that are resumed at once.
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

pub(crate) async fn resume(app: &App, name: Option<&str>) -> Result<Exit, CliError> {
    let Some(name) = name else {
        return resume_all(app).await;
    };
    let run = app.find(name)?;
    let handle = app.runtime.resume(run)?;
    let followed = follow(app, vec![handle], Beside::nothing()).await?;
    match (app.settings.form, followed.into_iter().next()) {
        (_, None) => Ok(Exit::Bug),
        (Form::Human, Some(followed)) => conclude(app, followed, Vec::new()),
        (Form::Json, Some(followed)) => {
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

/// How a run came back, as a program reads it.
pub(super) fn told(app: &App, followed: &Followed) -> Result<Option<ResultJson>, CliError> {
    let asked = people::asked_by(app, followed)?;
    let asked = asked.into_iter().map(ApprovalJson::from).collect();
    let result = result_json::of(followed.run, &followed.story, Vec::new());
    Ok(result.map(|result| result.asking(asked)))
}

async fn resume_all(app: &App) -> Result<Exit, CliError> {
    let mut handles: Vec<RunHandle> = Vec::new();
    let mut failures = Vec::new();
    for run in app.runtime.unfinished()?.into_iter().take(RUNS_MAX) {
        match app.runtime.resume(run) {
            Ok(handle) => handles.push(handle),
            Err(error) => failures.push(CliError::Run { run, error }),
        }
    }
    if handles.is_empty() && failures.is_empty() && app.settings.loudness != Loudness::Quiet {
        output::say(&[Line::from("no unfinished runs")]);
    }
    let mut followed = follow(app, handles, Beside::nothing()).await?;
    // One answer goes to stdout; several would run into each other, and `fathom show` prints each.
    if app.settings.form == Form::Human
        && failures.is_empty()
        && followed.len() == 1
        && let Some(only) = followed.pop()
    {
        return conclude(app, only, Vec::new());
    }
    report(app, followed, failures)
}

/// Tells how every run came back; the gravest of the exits is the command's.
fn report(app: &App, followed: Vec<Followed>, failures: Vec<CliError>) -> Result<Exit, CliError> {
    let mut worst = Exit::Ok;
    let mut results = Vec::new();
    let settled = followed.into_iter().map(settle);
    for one in settled.chain(failures.into_iter().map(Err)) {
        match one {
            Ok((followed, exit)) => {
                worst = worst.max(exit);
                if app.settings.form == Form::Human {
                    people::say_asked(app, &followed)?;
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
    if app.settings.form == Form::Json {
        output::print_json(&ResumedJson { results })?;
    }
    Ok(worst)
}
