//! Prepares and starts a run, and stays with it until it ends.

use fathom_core::model::{ModelSet, ModelSpec};
use fathom_core::text::Text;
use fathom_host::RunHandle;
use fathom_host::charter::Charter;
use fathom_host::programs::{
    PrepareProgress, PrepareWarning, PreparedRun, RunRequest, SkippedFile,
};

use super::conclude::conclude_as;
use crate::app::App;
use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::run::background_resume::BackgroundResume;
use crate::run::follow::{FinishedRun, follow};
use crate::settings::Verbosity;
use crate::terminal::output;
use crate::terminal::status_line::StatusLine;
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::view::units::many;

/// A request under the settings of a command.
pub(crate) fn request<'a>(
    app: &App,
    program: &'a str,
    goal: String,
    charter: &'a Charter,
    models: ModelSet,
) -> RunRequest<'a> {
    RunRequest {
        contract: app.settings.contract(),
        budget: app.settings.budget,
        ..RunRequest::new(program, Text::new(goal), charter, models)
    }
}

/// Prepares a run and shows how far that is.
pub(crate) async fn prepare(app: &App, request: RunRequest<'_>) -> Result<PreparedRun, CliError> {
    let mut meter = StatusLine::new(app.settings.loudness);
    let show = |progress| {
        meter.show(&match progress {
            PrepareProgress::Passages { done, total } => {
                format!("reading the material: {done} of {total} passages")
            }
            PrepareProgress::Symbols { done, total } => {
                format!("embedding the symbols: {done} of {total}")
            }
        });
    };
    let request = RunRequest {
        progress: Some(Box::new(show)),
        ..request
    };
    let prepared = app.runtime.prepare(request).await;
    meter.end();
    Ok(prepared?)
}

/// Prepares a run, starts it, shows how it gets on, and prints what came of it. The result has the keys of the program that
/// was asked for.
pub(crate) async fn launch(
    app: &App,
    request: RunRequest<'_>,
    warnings: Vec<String>,
) -> Result<ExitStatus, CliError> {
    let prepared = prepare(app, request).await?;
    start(app, prepared, warnings).await
}

/// The same for a run that is prepared.
pub(crate) async fn start(
    app: &App,
    prepared: PreparedRun,
    mut warnings: Vec<String>,
) -> Result<ExitStatus, CliError> {
    warnings.extend(told(&prepared.warnings));
    let (models, requested) = (prepared.new.models.clone(), prepared.requested.clone());
    let handle = app.runtime.start_prepared(prepared)?;
    let own = stay(app, handle, &models, &mut warnings).await?;
    conclude_as(app, own, warnings, Some(&requested))
}

/// What was noticed while a run was prepared, with the material that was left out in few lines.
pub(crate) fn told(warnings: &[PrepareWarning]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut skipped = Vec::new();
    for warning in warnings {
        match warning {
            PrepareWarning::Skipped(one) => skipped.push(one.clone()),
            other => {
                lines.extend(left_out(&std::mem::take(&mut skipped)));
                lines.push(other.to_string());
            }
        }
    }
    lines.extend(left_out(&skipped));
    lines
}

/// Stays with a run until it ends.
pub(crate) async fn stay(
    app: &App,
    handle: RunHandle,
    models: &ModelSet,
    warnings: &mut Vec<String>,
) -> Result<FinishedRun, CliError> {
    // The first request is on its way; what follows need not be quick.
    let beside = BackgroundResume::begin(app);
    warnings.extend(unpriced(models));
    if app.settings.loudness != Verbosity::Quiet {
        warn(warnings);
    }
    let followed = follow(app, vec![handle], beside).await?;
    followed.into_iter().next().ok_or_else(|| CliError::Bug {
        what: "the run returned without a result".to_owned(),
    })
}

/// Files that were left out, or taken otherwise than they seem, are named up to this many.
const SKIPPED_SHOWN_MAX: usize = 5;

/// What a user should know of material that was not used, or not as it seems.
pub(crate) fn left_out(skipped: &[SkippedFile]) -> Vec<String> {
    let shown = skipped.iter().take(SKIPPED_SHOWN_MAX);
    let mut warnings: Vec<String> = shown.map(ToString::to_string).collect();
    let more = skipped.len().saturating_sub(SKIPPED_SHOWN_MAX);
    if more > 0 {
        warnings.push(format!(
            "{} skipped or read differently",
            many(more as u64, "more file was", "more files were")
        ));
    }
    warnings
}

/// A warning for each model whose price nobody knows: it counts as free, so a limit on cost cannot hold.
fn unpriced(models: &ModelSet) -> Vec<String> {
    let mut specs = vec![&models.main];
    if models.sub != models.main {
        specs.push(&models.sub);
    }
    let is_unpriced = |spec: &&ModelSpec| {
        let facts = crate::commands::models::facts(spec);
        facts.is_ok_and(|facts| !facts.price_known())
    };
    let unpriced = specs.into_iter().filter(is_unpriced);
    unpriced
        .map(|spec| {
            format!(
                "no price known for `{}`; the cost limit is not enforced",
                spec.id
            )
        })
        .collect()
}

/// Tells what a user should know.
pub(crate) fn warn(warnings: &[String]) {
    let lines: Vec<StyledLine> = warnings
        .iter()
        .map(|warning| {
            StyledLine::new()
                .with(LineStyle::Odd, "warning")
                .with(LineStyle::Plain, format!(": {warning}"))
        })
        .collect();
    output::say(&lines);
}
