//! `fathom shred`: destroy the key of a run's content.

use serde::Serialize;

use crate::app::App;
use crate::error::CliError;
use crate::exit::Exit;
use crate::line::Line;
use crate::output;
use crate::settings::Form;

#[derive(Serialize)]
struct ShreddedJson {
    run: fathom_core::id::RunId,
    shredded: bool,
}

pub(crate) fn shred(app: &App, name: &str, is_confirmed: bool) -> Result<Exit, CliError> {
    let run = app.find(name)?;
    if !is_confirmed {
        return Err(CliError::Unconfirmed { run });
    }
    app.runtime.shred(run)?;
    match app.settings.form {
        Form::Json => output::print_json(&ShreddedJson {
            run,
            shredded: true,
        })?,
        Form::Human => output::print(&[Line::from(format!(
            "destroyed the content of run {run}; its hash chain stays verifiable"
        ))])?,
    }
    Ok(Exit::Ok)
}
