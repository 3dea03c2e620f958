//! `fathom shred`: destroy the key of a run's content.

use serde::Serialize;

use crate::app::App;
use crate::error::CliError;
use crate::exit::ExitStatus;
use crate::line::StyledLine;
use crate::output;
use crate::settings::OutputFormat;

#[derive(Serialize)]
struct ShreddedJson {
    run: fathom_core::id::RunId,
    shredded: bool,
}

pub(crate) fn shred(app: &App, name: &str, is_confirmed: bool) -> Result<ExitStatus, CliError> {
    let run = app.find(name)?;
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
