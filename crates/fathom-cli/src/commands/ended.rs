//! What a run that came back means for stdout and the exit code.

use fathom_core::outcome::Status;
use fathom_core::step::Wait;
use fathom_host::RunEnd;

use super::people;
use crate::app::App;
use crate::approval_view::ApprovalJson;
use crate::council;
use crate::error::CliError;
use crate::exit::Exit;
use crate::follow::Followed;
use crate::line::{Line, Tone};
use crate::output;
use crate::progress::asked_of_people;
use crate::result_json::{self, Keys};
use crate::settings::{Form, Loudness};

/// Prints the result of one run.
pub(crate) fn conclude(
    app: &App,
    followed: Followed,
    warnings: Vec<String>,
) -> Result<Exit, CliError> {
    conclude_as(app, followed, warnings, Keys::OfProgram)
}

/// Prints the result of one run, in JSON with these keys.
pub(super) fn conclude_as(
    app: &App,
    followed: Followed,
    warnings: Vec<String>,
    keys: Keys,
) -> Result<Exit, CliError> {
    let (followed, exit) = settle(followed)?;
    match app.settings.form {
        Form::Json => {
            if let Some(result) = result_json::of(followed.run, &followed.story, warnings) {
                let asked = people::asked_by(app, &followed)?;
                let asked = asked.into_iter().map(ApprovalJson::from).collect();
                let result = result.with(keys).asking(asked);
                output::print_json(&result)?;
            }
        }
        Form::Human => {
            print_answer(app, &followed)?;
            people::say_asked(app, &followed)?;
        }
    }
    Ok(exit)
}

/// A run that left a result, or waits for a person, with its exit; anything else is an error.
pub(crate) fn settle(followed: Followed) -> Result<(Followed, Exit), CliError> {
    let Followed { run, ref short, .. } = followed;
    let short = short.clone();
    match followed.end {
        RunEnd::Finished(ref result) => {
            let exit = Exit::of_status(result.status);
            Ok((followed, exit))
        }
        RunEnd::Waiting(Wait::Approval) => Ok((followed, Exit::NeedsReview)),
        RunEnd::Waiting(Wait::Outage(failure)) => Err(CliError::OutOfReach {
            run,
            short,
            failure: Box::new(failure),
        }),
        RunEnd::Interrupted => Err(CliError::Interrupted { run, short }),
        RunEnd::Failed(error) => Err(CliError::Run { run, error }),
    }
}

/// Prints what came of a run.
pub(super) fn print_answer(app: &App, followed: &Followed) -> Result<(), CliError> {
    let root = followed.story.root();
    let result = root.and_then(|root| root.result.as_ref());
    if app.settings.loudness == Loudness::Quiet {
        // The tree that would have said it was not drawn.
        output::say(&trouble(followed));
    }
    let Some(answer) = result.and_then(result_json::answer) else {
        return Ok(());
    };
    if app.settings.loudness != Loudness::Quiet && output::both_are_terminals() {
        if council::report(&followed.story).is_some() {
            // The picture that was just drawn holds the answer.
            return Ok(());
        }
        output::say(&[Line::new()]);
    }
    output::print_answer(&answer)
}

/// Why a result is not simply ok.
fn trouble(followed: &Followed) -> Vec<Line> {
    let root = followed.story.root();
    let Some(result) = root.and_then(|root| root.result.as_ref()) else {
        return vec![Line::new().with(Tone::Odd, "awaiting approval")];
    };
    let head = match result.status {
        Status::Ok => return Vec::new(),
        Status::NeedsReview => "needs review",
        Status::Failed => "failed",
    };
    let mut lines = vec![
        Line::new()
            .with(Tone::Odd, head)
            .with(Tone::Plain, format!(": {}", result.stop_reason)),
    ];
    lines.extend(asked_of_people(&followed.story, usize::MAX));
    lines
}
