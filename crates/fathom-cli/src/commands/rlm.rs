//! `fathom rlm`: a question about material of any size.

use std::io;
use std::path::{Path, PathBuf};

use fathom_core::sandbox::CellLimits;
use fathom_core::text::Text;
use fathom_core::unit::Millis;
use fathom_host::NewRun;
use fathom_host::charter::ModelProfile;
use fathom_host::programs::rlm::{MaterialDocument, PlainCallRule, RlmRequest, read_text};
use fathom_programs::rlm::{RecipeMode, RlmConfig};

use crate::app::App;
use crate::args::{RecipeChoice, RlmArgs};
use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::run::embedded_models;
use crate::run::launch::{launch_rlm, left_out};
use crate::settings::RunSettings;
use crate::settings::environment;
use crate::settings::inputs;

/// The charter of a run for which none is named.
pub(crate) const CHARTER: &str = "rlm";

pub(crate) async fn rlm(asked: RlmArgs, settings: RunSettings) -> Result<ExitStatus, CliError> {
    let charter = settings.charter()?;
    let mut models = charter.cast(settings.model.models(environment::key)?);
    let (paths, text) = context(&asked)?;
    let question = inputs::question("rlm", asked.question.as_deref())?;
    let params = params(&asked, ModelProfile::of(&models.main))?;
    let direct = settings.direct.clone();
    let app = App::open(settings)?;
    let mut warnings: Vec<String> = charter.warnings.iter().map(ToString::to_string).collect();
    warnings.extend(embedded_models::settle(&app.runtime, &mut models)?);
    let frame = charter.frame();
    let goal = Text::new(question);
    let exploration = RlmRequest {
        goal: goal.clone(),
        paths,
        text,
        params,
        plain: if asked.repl {
            PlainCallRule::Never
        } else {
            PlainCallRule::IfItFits
        },
        direct,
    };
    let explored = app.runtime.explore(exploration, &models, &frame).await?;
    warnings.extend(left_out(&explored.skipped));
    let new = NewRun {
        goal,
        program: explored.program,
        contract: app.settings.contract(),
        budget: app.settings.budget,
        models,
        frame,
    };
    launch_rlm(&app, new, explored.context, warnings).await
}

/// Files and folders, and a text without a file.
type MaterialArg = (Vec<PathBuf>, Option<MaterialDocument>);

/// Names under which stdin may be given.
const STDIN: [&str; 4] = ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];

/// Whether stdin is among these.
pub(super) fn has_stdin(paths: &[PathBuf]) -> bool {
    paths
        .iter()
        .any(|path| STDIN.iter().any(|stdin| path == Path::new(stdin)))
}

/// Files and folders, and what stdin says where `-` is among them.
fn split(paths: &[PathBuf]) -> Result<MaterialArg, CliError> {
    let is_stdin = |path: &PathBuf| path.as_os_str() == "-";
    let (stdin, paths): (Vec<_>, Vec<_>) = paths.iter().cloned().partition(is_stdin);
    let text = if stdin.is_empty() {
        None
    } else {
        Some(read_text("stdin", io::stdin().lock())?)
    };
    Ok((paths, text))
}

fn context(asked: &RlmArgs) -> Result<MaterialArg, CliError> {
    let reads_question = asked.question.as_deref().is_none_or(|typed| typed == "-");
    if reads_question && has_stdin(&asked.context) {
        return Err(CliError::Arguments {
            message: "stdin cannot be both the question and the context".to_owned(),
            hint: "pass the question as an argument: `fathom rlm \"…\" --context -`".to_owned(),
        });
    }
    split(&asked.context)
}

fn params(asked: &RlmArgs, profile: ModelProfile) -> Result<RlmConfig, CliError> {
    let schema = asked.schema.as_deref().map(inputs::schema).transpose()?;
    let usual = RlmConfig {
        schema,
        reuse: asked.reuse,
        ..RlmConfig::default()
    };
    // A small model reads and writes slowly, and writes code that does not work.
    let mut params = match profile {
        ModelProfile::Local => RlmConfig {
            recipes: RecipeMode::Chosen,
            limits: CellLimits {
                output: 2 << 10,
                ..CellLimits::default()
            },
            output_tokens_max: 512,
            leaf_tokens_max: 256,
            timeout: Millis(480_000),
            // What is copied out of the material is nothing to roll dice for.
            temperature_milli: Some(0),
            ..usual
        },
        ModelProfile::Remote => usual,
    };
    match asked.recipes {
        None => {}
        Some(RecipeChoice::Off) => params.recipes = RecipeMode::Off,
        Some(RecipeChoice::Offered) => params.recipes = RecipeMode::Offered,
        Some(RecipeChoice::Chosen) => params.recipes = RecipeMode::Chosen,
    }
    if let Some(turns) = asked.turns {
        params.turns_max = turns;
    }
    if let Some(time) = asked.cell_time {
        params.limits.time = time;
    }
    Ok(params)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, CliCommand};

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
        let of = |profile| params(&asked, profile).expect("it has no schema to read");
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
