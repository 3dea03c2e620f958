//! `fathom session`: the entries of a session, its key, and a sealed copy for others.

use fathom_core::domain::session::SessionSpeaker;
use fathom_host::HostError;
use fathom_store::history::HistoryEntry;

use crate::app::App;
use crate::args::SessionCommand;
use crate::atomic_file;
use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::settings::OutputFormat;
use crate::terminal::masking::Unmasked;
use crate::terminal::output;
use crate::terminal::plain_text::safe;
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::view::units;

pub(crate) fn carry_out(command: SessionCommand, app: &App) -> Result<ExitStatus, CliError> {
    let domains = app.runtime.domains();
    match command {
        SessionCommand::Show { id } => {
            let entries = domains.history(&id)?.read().map_err(HostError::from)?;
            show(app, &id, &entries)
        }
        SessionCommand::Rotate { id } => {
            let rotated = domains.history(&id)?.rotate().map_err(HostError::from)?;
            let records = rotated.head().sequence;
            done(
                app,
                &serde_json::json!({ "session": id, "records": records }),
                &format!("re-encrypted {records} records"),
            )
        }
        SessionCommand::Export { id, to, out } => {
            let recipients: Vec<&str> = to.iter().map(String::as_str).collect();
            let mut sealed = Vec::new();
            domains
                .history(&id)?
                .export_age(&recipients, &mut sealed)
                .map_err(HostError::from)?;
            let written = atomic_file::write_original(Unmasked::SessionExport, &out, &sealed);
            written.map_err(|source| CliError::Unwritable {
                file: out.clone(),
                source,
            })?;
            done(
                app,
                &serde_json::json!({ "session": id, "file": out }),
                &format!("wrote {}", out.display()),
            )
        }
    }
}

fn show(app: &App, id: &str, entries: &[HistoryEntry]) -> Result<ExitStatus, CliError> {
    if app.settings.form == OutputFormat::Json {
        output::print_json(&serde_json::json!({ "session": id, "entries": entries }))?;
        return Ok(ExitStatus::Ok);
    }
    let mut lines = Vec::new();
    for entry in entries {
        let (who, tone) = match entry.who {
            SessionSpeaker::User => ("asked", LineStyle::Strong),
            SessionSpeaker::Note => ("note", LineStyle::Faint),
            SessionSpeaker::Reply => ("reply", LineStyle::Plain),
            // The notes say the same in words.
            SessionSpeaker::Commands => continue,
        };
        lines.push(
            StyledLine::new()
                .with(
                    LineStyle::Faint,
                    format!("{}  {who:<5}  ", units::moment(entry.at_ms)),
                )
                .with(tone, safe(&entry.text)),
        );
    }
    output::print(&lines)?;
    Ok(ExitStatus::Ok)
}

fn done(app: &App, json: &serde_json::Value, said: &str) -> Result<ExitStatus, CliError> {
    match app.settings.form {
        OutputFormat::Json => output::print_json(json)?,
        OutputFormat::Human => {
            output::print(&[StyledLine::new().with(LineStyle::Plain, safe(said))])?;
        }
    }
    Ok(ExitStatus::Ok)
}
