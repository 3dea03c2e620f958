//! Starts a run and stays with it until it ends.

use fathom_core::model::{ModelSpec, Models};
use fathom_host::NewRun;

use super::ended::conclude;
use crate::app::App;
use crate::beside::Beside;
use crate::error::CliError;
use crate::exit::Exit;
use crate::follow::follow;
use crate::line::{Line, Tone};
use crate::output;
use crate::settings::Loudness;

/// Starts a run, shows how it gets on, and prints what came of it.
pub(super) async fn launch(
    app: &App,
    new: NewRun,
    mut warnings: Vec<String>,
) -> Result<Exit, CliError> {
    let models = new.models.clone();
    let handle = app.runtime.start(new)?;
    // The first request is on its way; what follows need not be quick.
    let beside = Beside::begin(app);
    warnings.extend(unpriced(&models));
    if app.settings.loudness != Loudness::Quiet {
        warn(&warnings);
    }
    let followed = follow(app, vec![handle], beside).await?;
    let own = followed.into_iter().next().ok_or_else(|| CliError::Bug {
        what: "the run came back without an end".to_owned(),
    })?;
    conclude(app, own, warnings)
}

/// A warning for each model whose price nobody knows: it counts as free, so a limit on cost cannot hold.
fn unpriced(models: &Models) -> Vec<String> {
    let mut specs = vec![&models.main];
    if models.sub != models.main {
        specs.push(&models.sub);
    }
    let is_unpriced = |spec: &&ModelSpec| {
        let facts = super::models::facts(spec);
        facts.is_ok_and(|facts| !facts.price_known())
    };
    let unpriced = specs.into_iter().filter(is_unpriced);
    unpriced
        .map(|spec| {
            format!(
                "nobody knows what `{}` costs: the cost limit does not hold",
                spec.id
            )
        })
        .collect()
}

fn warn(warnings: &[String]) {
    let lines: Vec<Line> = warnings
        .iter()
        .map(|warning| {
            Line::new()
                .with(Tone::Odd, "warning")
                .with(Tone::Plain, format!(": {warning}"))
        })
        .collect();
    output::say(&lines);
}
