//! `fathom council`: a decision of chiefs and their sub-chiefs.

use std::path::Path;

use fathom_core::contract::Contract;
use fathom_core::text::Text;
use fathom_host::NewRun;
use fathom_host::charter::ModelProfile;
use fathom_host::programs::council::{CouncilContext, EmbedProgress, PreparedCouncil};
use fathom_programs::council::{CouncilConfig, DEPTH_MAX, ReusePolicy};

use crate::app::App;
use crate::args::CouncilArgs;
use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::run::embedded_models;
use crate::run::launch::{launch, left_out};
use crate::settings::RunSettings;
use crate::settings::environment;
use crate::settings::inputs;
use crate::terminal::status_line::StatusLine;

/// The charter of a council for which none is named.
pub(crate) const CHARTER: &str = "council";

pub(crate) async fn council(
    asked: CouncilArgs,
    settings: RunSettings,
) -> Result<ExitStatus, CliError> {
    decide("council", asked, settings).await
}

/// Decides for the command that was typed.
pub(super) async fn decide(
    command: &'static str,
    asked: CouncilArgs,
    settings: RunSettings,
) -> Result<ExitStatus, CliError> {
    let charter = settings.charter()?;
    let Some(council) = &charter.council else {
        return Err(CliError::BadValue {
            what: "--charter".to_owned(),
            value: settings.charter.value,
            why: "the charter has no `[council]` section; the built-in `council` has one"
                .to_owned(),
        });
    };
    let mut models = charter.cast(settings.model.models(environment::key)?);
    let profile = ModelProfile::of(&models.sub);
    let mut params = council.params(profile);
    if let Some(depth) = settings.depth_of(DEPTH_MAX)? {
        params.depth_max = depth;
    }
    let question = settle(command, &asked, &mut params)?;
    let context = context(&asked, council.passage_tokens(profile))?;
    let app = App::open(settings)?;
    let mut warnings: Vec<String> = charter.warnings.iter().map(ToString::to_string).collect();
    warnings.extend(embedded_models::settle(&app.runtime, &mut models)?);
    let mut meter = StatusLine::new(app.settings.loudness);
    let convened =
        app.runtime
            .convene(&mut params, &question, &context, &models, &mut |progress| {
                let EmbedProgress { done, total } = progress;
                meter.show(&format!("reading the material: {done} of {total} passages"));
            });
    meter.end();
    warnings.extend(noticed(&convened?));
    let contract = app.settings.contract();
    let contract = Contract {
        // A chief is at depth 0 of the council and at depth 1 of the engine.
        recursion: fathom_core::contract::RecursionPolicy {
            max_depth: params.depth_max + 1,
            ..contract.recursion
        },
        ..contract
    };
    let new = NewRun {
        goal: Text::new(question),
        program: params.spec(),
        contract,
        budget: app.settings.budget,
        models,
        frame: charter.frame(),
    };
    launch(&app, new, warnings).await
}

/// What the council is to look at; `-` is stdin.
fn context(asked: &CouncilArgs, tokens_max: u32) -> Result<CouncilContext, CliError> {
    let (stdin, paths): (Vec<_>, Vec<_>) = asked
        .context
        .iter()
        .cloned()
        .partition(|path| path.as_os_str() == "-");
    let text = if stdin.is_empty() {
        None
    } else {
        Some(("stdin".to_owned(), inputs::read_stdin()?))
    };
    Ok(CouncilContext {
        paths,
        text,
        tokens_max,
    })
}

/// What a user should know of the material before the council decides on it.
fn noticed(convened: &PreparedCouncil) -> Vec<String> {
    let mut warnings = left_out(&convened.skipped);
    if let Some(why) = &convened.words_only {
        warnings.push(format!(
            "searching by keywords only: {why}; run `fathom models pull minilm` for semantic search"
        ));
    }
    warnings
}

/// What was typed, over what the charter says. Gives the question back.
fn settle(
    command: &'static str,
    asked: &CouncilArgs,
    params: &mut CouncilConfig,
) -> Result<String, CliError> {
    let is_stdin = |path: &Path| path.as_os_str() == "-";
    let reads_question = asked.question.as_deref().is_none_or(|typed| typed == "-");
    if reads_question && asked.context.iter().any(|path| is_stdin(path)) {
        return Err(CliError::Arguments {
            message: "stdin cannot be both the question and the context".to_owned(),
            hint: format!("pass the question as an argument: `fathom {command} \"…\" --context -`"),
        });
    }
    if asked.compare && params.depth_max == 0 {
        return Err(CliError::Arguments {
            message: "`--compare` needs a depth of at least 1".to_owned(),
            hint: "remove `--compare` or raise `--max-depth`".to_owned(),
        });
    }
    if asked.compare {
        params.compare = true;
    }
    if asked.no_reuse {
        params.reuse = ReusePolicy::Off;
    }
    inputs::question(command, asked.question.as_deref())
}

#[cfg(test)]
#[path = "council_tests.rs"]
mod tests;
