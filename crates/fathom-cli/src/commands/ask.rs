//! `fathom ask`: one question, one answer.

use fathom_core::model::{ModelSpec, Models};
use fathom_core::programs::direct::{Params, Review};
use fathom_core::text::Text;
use fathom_host::NewRun;
use fathom_host::charter::CouncilRole;

use super::ended::conclude;
use crate::app::App;
use crate::beside::Beside;
use crate::embedded;
use crate::environment;
use crate::error::CliError;
use crate::exit::Exit;
use crate::follow::follow;
use crate::inputs;
use crate::line::{Line, Tone};
use crate::output;
use crate::settings::{Loudness, Settings};
use crate::typed::Ask;

/// How often an answer that failed its review is written anew, unless the configuration says otherwise.
const REVISIONS_MAX: u32 = 1;

pub(crate) async fn ask(asked: Ask, settings: Settings) -> Result<Exit, CliError> {
    let charter = settings.charter()?;
    let mut models = settings.model.models(environment::key)?;
    models.prime = charter.model(CouncilRole::Prime);
    models.lite = charter.model(CouncilRole::Lite);
    models.code_mind = charter.model(CouncilRole::CodeMind);
    let question = inputs::question(asked.question.as_deref())?;
    let inputs::Gathered {
        material,
        mut warnings,
    } = inputs::material(&asked.context)?;
    let mut params = params(&asked, settings.direct.clone())?;
    params.material.extend(material);
    let app = App::open(settings)?;
    warnings.extend(charter.warnings.iter().map(ToString::to_string));
    warnings.extend(embedded::settle(&app.runtime, &mut models)?);
    let handle = app.runtime.start(NewRun {
        goal: Text::new(question),
        program: params.spec(),
        contract: app.settings.contract(),
        budget: app.settings.budget,
        models: models.clone(),
        frame: charter.frame(),
    })?;
    // The first request is on its way; what follows need not be quick.
    let beside = Beside::begin(&app);
    warnings.extend(unpriced(&models));
    if app.settings.loudness != Loudness::Quiet {
        warn(&warnings);
    }
    let followed = follow(&app, vec![handle], beside).await?;
    let own = followed.into_iter().next().ok_or_else(|| CliError::Bug {
        what: "the run came back without an end".to_owned(),
    })?;
    conclude(&app, own, warnings)
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

/// The program's parameters: what was typed over what the file says.
fn params(asked: &Ask, mut params: Params) -> Result<Params, CliError> {
    if let Some(system) = &asked.system {
        params.system.clone_from(system);
    }
    if let Some(tokens) = asked.max_output {
        params.output_tokens_max = tokens;
        params.output_tokens_min = params.output_tokens_min.min(tokens);
    }
    if asked.no_stream {
        params.stream = false;
    }
    if let Some(given) = &asked.review {
        let revisions_max = params
            .review
            .map_or(REVISIONS_MAX, |review| review.revisions_max);
        params.review = Some(Review {
            rubric: inputs::rubric(given)?,
            revisions_max,
        });
    }
    Ok(params)
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

#[cfg(test)]
#[path = "ask_tests.rs"]
mod tests;
