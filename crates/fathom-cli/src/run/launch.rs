//! Starts a run and stays with it until it ends.

use fathom_core::model::{ModelSet, ModelSpec};
use fathom_host::programs::council::SkippedFile;
use fathom_host::programs::rlm::SandboxContext;
use fathom_host::{NewRun, RunHandle};

use super::conclude::{conclude, conclude_as};
use crate::app::App;
use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::run::background_resume::BackgroundResume;
use crate::run::follow::{FinishedRun, follow};
use crate::settings::Verbosity;
use crate::terminal::output;
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::view::result_json::ResultShape;
use crate::view::units::many;

/// Starts a run, shows how it gets on, and prints what came of it.
pub(crate) async fn launch(
    app: &App,
    new: NewRun,
    mut warnings: Vec<String>,
) -> Result<ExitStatus, CliError> {
    let models = new.models.clone();
    let handle = app.runtime.start(new)?;
    let own = stay(app, handle, &models, &mut warnings).await?;
    conclude(app, own, warnings)
}

/// The same for a run whose code works on a context; without one it is a plain call. The result has the keys of `rlm`.
pub(crate) async fn launch_rlm(
    app: &App,
    new: NewRun,
    context: Option<SandboxContext>,
    mut warnings: Vec<String>,
) -> Result<ExitStatus, CliError> {
    let models = new.models.clone();
    let handle = match context {
        Some(context) => app.runtime.start_in(new, context)?,
        None => app.runtime.start(new)?,
    };
    let own = stay(app, handle, &models, &mut warnings).await?;
    conclude_as(app, own, warnings, ResultShape::Rlm)
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
