//! Converts a finished run to output on stdout and an exit code.

use fathom_core::episode::result::EpisodeStatus;
use fathom_core::run::step::RunWait;
use fathom_host::RunEnd;

use crate::app::App;
use crate::commands::approvals;
use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::run::follow::FinishedRun;
use crate::settings::{OutputFormat, Verbosity};
use crate::terminal::output;
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::view::approval::ApprovalJson;
use crate::view::council;
use crate::view::progress::asked_of_people;
use crate::view::result_json;

/// Prints the result of one run.
pub(crate) fn conclude(
    app: &App,
    followed: FinishedRun,
    warnings: Vec<String>,
) -> Result<ExitStatus, CliError> {
    conclude_as(app, followed, warnings, None)
}

/// Prints the result of one run, in JSON with the keys of `program`; of the run's own where none is named.
pub(crate) fn conclude_as(
    app: &App,
    followed: FinishedRun,
    warnings: Vec<String>,
    program: Option<&str>,
) -> Result<ExitStatus, CliError> {
    let (followed, exit) = settle(followed)?;
    match app.settings.form {
        OutputFormat::Json => {
            if let Some(result) =
                result_json::of_program(followed.run, &followed.story, warnings, program)
            {
                let asked = approvals::asked_by(app, &followed)?;
                let asked = asked.into_iter().map(ApprovalJson::from).collect();
                let result = result.asking(asked);
                output::print_json(&result)?;
            }
        }
        OutputFormat::Human => {
            print_answer(app, &followed)?;
            approvals::say_asked(app, &followed)?;
        }
    }
    Ok(exit)
}

/// A run that left a result, or waits for a person, with its exit; anything else is an error.
pub(crate) fn settle(followed: FinishedRun) -> Result<(FinishedRun, ExitStatus), CliError> {
    let FinishedRun { run, ref short, .. } = followed;
    let short = short.clone();
    match followed.end {
        RunEnd::Finished(ref result) => {
            let exit = ExitStatus::of_status(result.status);
            Ok((followed, exit))
        }
        // Not an error: the run did what it could, and a person is next.
        RunEnd::Waiting(RunWait::Approval) => Ok((followed, ExitStatus::NeedsReview)),
        RunEnd::Waiting(RunWait::Outage(failure)) => Err(CliError::OutOfReach {
            run,
            short,
            failure: Box::new(failure),
        }),
        RunEnd::Interrupted => Err(CliError::Interrupted { run, short }),
        RunEnd::Failed(error) => Err(CliError::Run { run, error }),
    }
}

/// Prints what came of a run.
pub(crate) fn print_answer(app: &App, followed: &FinishedRun) -> Result<(), CliError> {
    let root = followed.story.root();
    let result = root.and_then(|root| root.result.as_ref());
    if app.settings.loudness == Verbosity::Quiet {
        // The tree that would have said it was not drawn.
        output::say(&trouble(followed));
    }
    let Some(answer) = result.and_then(result_json::answer) else {
        return Ok(());
    };
    if app.settings.loudness != Verbosity::Quiet && output::both_are_terminals() {
        if council::report(&followed.story).is_some() {
            // The picture that was just drawn holds the answer.
            return Ok(());
        }
        output::say(&[StyledLine::new()]);
    }
    // The answer alone goes to stdout, so that it can be piped.
    output::print_answer(&answer)
}

/// Reasons why a result is not simply ok.
fn trouble(followed: &FinishedRun) -> Vec<StyledLine> {
    let root = followed.story.root();
    let Some(result) = root.and_then(|root| root.result.as_ref()) else {
        return vec![StyledLine::new().with(LineStyle::Odd, "awaiting approval")];
    };
    let head = match result.status {
        EpisodeStatus::Ok => return Vec::new(),
        EpisodeStatus::NeedsReview => "needs review",
        EpisodeStatus::Failed => "failed",
    };
    let mut lines = vec![
        StyledLine::new()
            .with(LineStyle::Odd, head)
            .with(LineStyle::Plain, format!(": {}", result.stop_reason)),
    ];
    lines.extend(asked_of_people(&followed.story, usize::MAX));
    lines
}
