//! `fathom rlm`: a question about material of any size.

use std::io;
use std::path::{Path, PathBuf};

use fathom_host::programs::rlm::{RlmOptions, read_text};
use fathom_host::programs::{RunContext, RunRequest};
use fathom_programs::rlm::{self, RecipeMode};

use crate::app::App;
use crate::args::{RecipeChoice, RlmArgs};
use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::run::launch::{launch, request};
use crate::settings::RunSettings;
use crate::settings::environment;
use crate::settings::inputs;

pub(crate) use fathom_host::programs::rlm::CHARTER;

pub(crate) async fn rlm(asked: RlmArgs, settings: RunSettings) -> Result<ExitStatus, CliError> {
    let charter = settings.charter()?;
    let models = settings.model.models(environment::key)?;
    let context = context(&asked)?;
    let question = inputs::question("rlm", asked.question.as_deref())?;
    let options = RlmOptions {
        direct: Some(settings.direct.clone()),
        ..options(&asked)?
    };
    let app = App::open(settings)?;
    let request = RunRequest {
        context,
        ..request(&app, rlm::NAME, question, &charter, models)
    };
    launch(&app, request.with_options(&options), Vec::new()).await
}

/// Names under which stdin may be given.
const STDIN: [&str; 4] = ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];

/// Whether stdin is among these.
pub(super) fn has_stdin(paths: &[PathBuf]) -> bool {
    paths
        .iter()
        .any(|path| STDIN.iter().any(|stdin| path == Path::new(stdin)))
}

/// Files and folders, and what stdin says where `-` is among them.
fn split(paths: &[PathBuf]) -> Result<RunContext, CliError> {
    let is_stdin = |path: &PathBuf| path.as_os_str() == "-";
    let (stdin, paths): (Vec<_>, Vec<_>) = paths.iter().cloned().partition(is_stdin);
    let text = if stdin.is_empty() {
        None
    } else {
        Some(read_text("stdin", io::stdin().lock())?)
    };
    Ok(RunContext { paths, text })
}

fn context(asked: &RlmArgs) -> Result<RunContext, CliError> {
    let reads_question = asked.question.as_deref().is_none_or(|typed| typed == "-");
    if reads_question && has_stdin(&asked.context) {
        return Err(CliError::Arguments {
            message: "stdin cannot be both the question and the context".to_owned(),
            hint: "pass the question as an argument: `fathom rlm \"…\" --context -`".to_owned(),
        });
    }
    split(&asked.context)
}

fn options(asked: &RlmArgs) -> Result<RlmOptions, CliError> {
    Ok(RlmOptions {
        schema: asked.schema.as_deref().map(inputs::schema).transpose()?,
        reuse: asked.reuse,
        recipes: asked.recipes.map(|choice| match choice {
            RecipeChoice::Off => RecipeMode::Off,
            RecipeChoice::Offered => RecipeMode::Offered,
            RecipeChoice::Chosen => RecipeMode::Chosen,
        }),
        turns: asked.turns,
        cell_time: asked.cell_time,
        code_always: asked.repl,
        direct: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, CliCommand};
    use fathom_host::charter::ModelProfile;

    #[test]
    fn r01_a_small_model_only_chooses_and_leaves_nothing_to_chance() {
        let typed = crate::args::parse(["fathom", "rlm", "Which?", "--context", "a.log"]);
        let Ok(Cli {
            command: CliCommand::Rlm(asked),
            ..
        }) = typed
        else {
            panic!("a question about material");
        };
        let options = options(&asked).expect("it has no schema to read");
        let of = |profile| options.params(profile);
        let (small, large) = (of(ModelProfile::Local), of(ModelProfile::Remote));
        assert_eq!(
            (small.temperature_milli, small.recipes),
            (Some(0), RecipeMode::Chosen)
        );
        assert_eq!(
            (large.temperature_milli, large.recipes),
            (None, RecipeMode::Offered)
        );
    }
}
