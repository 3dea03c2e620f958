//! `fathom council`: a decision of chiefs and their sub-chiefs.

use std::path::Path;

use fathom_host::charter::ModelProfile;
use fathom_host::programs::council::CouncilOptions;
use fathom_host::programs::{MaterialDocument, RunContext, RunRequest};
use fathom_programs::council::{self, DEPTH_MAX};

use crate::app::App;
use crate::args::CouncilArgs;
use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::run::launch::{launch, request};
use crate::settings::RunSettings;
use crate::settings::environment;
use crate::settings::inputs;

pub(crate) use fathom_host::programs::council::CHARTER;

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
    let models = settings.model.models(environment::key)?;
    let usual = council.rules(ModelProfile::of(&models.sub)).depth_max;
    let depth = settings.depth_of(DEPTH_MAX)?;
    let question = settle(command, &asked, depth.unwrap_or(usual))?;
    let context = context(&asked)?;
    let app = App::open(settings)?;
    let request = RunRequest {
        context,
        ..request(&app, council::NAME, question, &charter, models)
    };
    launch(
        &app,
        request.with_options(&options(&asked, depth)),
        Vec::new(),
    )
    .await
}

/// What the council is to look at; `-` is stdin.
fn context(asked: &CouncilArgs) -> Result<RunContext, CliError> {
    let (stdin, paths): (Vec<_>, Vec<_>) = asked
        .context
        .iter()
        .cloned()
        .partition(|path| path.as_os_str() == "-");
    let text = if stdin.is_empty() {
        None
    } else {
        Some(MaterialDocument::new("stdin", inputs::read_stdin()?))
    };
    Ok(RunContext { paths, text })
}

/// What was typed, over what the charter says.
const fn options(asked: &CouncilArgs, depth: Option<u8>) -> CouncilOptions {
    CouncilOptions {
        depth,
        compare: asked.compare,
        no_reuse: asked.no_reuse,
    }
}

/// The question, unless what was typed contradicts itself or the depth.
fn settle(command: &'static str, asked: &CouncilArgs, depth_max: u8) -> Result<String, CliError> {
    let is_stdin = |path: &Path| path.as_os_str() == "-";
    let reads_question = asked.question.as_deref().is_none_or(|typed| typed == "-");
    if reads_question && asked.context.iter().any(|path| is_stdin(path)) {
        return Err(CliError::Arguments {
            message: "stdin cannot be both the question and the context".to_owned(),
            hint: format!("pass the question as an argument: `fathom {command} \"…\" --context -`"),
        });
    }
    if asked.compare && depth_max == 0 {
        return Err(CliError::Arguments {
            message: "`--compare` needs a depth of at least 1".to_owned(),
            hint: "remove `--compare` or raise `--max-depth`".to_owned(),
        });
    }
    inputs::question(command, asked.question.as_deref())
}

#[cfg(test)]
#[path = "council_tests.rs"]
mod tests;
