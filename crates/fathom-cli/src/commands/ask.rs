//! `fathom ask`: one question, one answer, by the program that the charter's router names.

use fathom_host::programs::tools_loop::ToolsOptions;
use fathom_programs::direct::{self, DirectConfig, ReviewRules};
use fathom_programs::{council, tools_loop};

use crate::app::App;
use crate::args::{AskArgs, CouncilArgs};
use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::run::launch::{launch, request};
use crate::settings::RunSettings;
use crate::settings::environment;
use crate::settings::inputs;

/// How often an answer that failed its review is written anew, unless the configuration says otherwise.
const REVISIONS_MAX: u32 = 1;

pub(crate) async fn ask(asked: AskArgs, settings: RunSettings) -> Result<ExitStatus, CliError> {
    let charter = settings.charter()?;
    if charter.router.ask == council::NAME {
        return super::council::decide("ask", as_council(asked)?, settings).await;
    }
    let models = settings.model.models(environment::key)?;
    let question = inputs::question("ask", asked.question.as_deref())?;
    let inputs::InputMaterial { material, warnings } = inputs::material(&asked.context)?;
    let mut params = params(&asked, settings.direct.clone())?;
    params.material.extend(material);
    let app = App::open(settings)?;
    let request = if charter.router.ask == tools_loop::NAME {
        let options = ToolsOptions {
            system: Some(params.system),
            ..ToolsOptions::default()
        };
        request(&app, tools_loop::NAME, question, &charter, models).with_options(&options)
    } else {
        request(&app, direct::NAME, question, &charter, models).with_options(&params)
    };
    launch(&app, request, warnings).await
}

/// The question as a council gets it. What only a single prompt can follow is refused.
fn as_council(asked: AskArgs) -> Result<CouncilArgs, CliError> {
    let unused = [
        ("--review", asked.review.is_some()),
        ("--system", asked.system.is_some()),
        ("--max-output", asked.max_output.is_some()),
    ];
    if let Some((option, _)) = unused.into_iter().find(|(_, typed)| *typed) {
        return Err(CliError::Arguments {
            message: format!("`{option}` cannot be used with a charter whose `ask` is a council"),
            hint: "remove it, or choose another charter with `--charter`".to_owned(),
        });
    }
    Ok(CouncilArgs {
        question: asked.question,
        context: asked.context,
        compare: false,
        no_reuse: false,
    })
}

/// The program's parameters: what was typed over what the file says.
fn params(asked: &AskArgs, mut params: DirectConfig) -> Result<DirectConfig, CliError> {
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
        params.review = Some(ReviewRules {
            rubric: inputs::rubric(given)?,
            revisions_max,
        });
    }
    Ok(params)
}

#[cfg(test)]
#[path = "ask_tests.rs"]
mod tests;
