//! `fathom shred`: destroy the key of a run's content.

use serde::Serialize;

use crate::app::App;
use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::settings::OutputFormat;
use crate::terminal::output;
use crate::terminal::styled_line::StyledLine;

#[derive(Serialize)]
struct ShreddedJson {
    run: fathom_core::id::RunId,
    shredded: bool,
}

pub(crate) fn shred(app: &App, name: &str, is_confirmed: bool) -> Result<ExitStatus, CliError> {
    let run = app.find(name)?;
    // Shredding destroys the key of the content: nothing can undo it, so a name alone is not enough.
    if !is_confirmed {
        return Err(CliError::Unconfirmed { run });
    }
    app.runtime.shred(run)?;
    match app.settings.form {
        OutputFormat::Json => output::print_json(&ShreddedJson {
            run,
            shredded: true,
        })?,
        OutputFormat::Human => output::print(&[StyledLine::from(format!(
            "destroyed the content of run {run}; its hash chain stays verifiable"
        ))])?,
    }
    Ok(ExitStatus::Ok)
}
