//! `fathom verify`: is the journal what was written?

use fathom_store::Verification;
use serde::Serialize;

use crate::app::App;
use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::settings::OutputFormat;
use crate::terminal::output;
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::view::units::many;

#[derive(Serialize)]
struct VerifyJson<'a> {
    ok: bool,
    #[serde(flatten)]
    found: &'a Verification,
}

pub(crate) fn verify(app: &App, name: Option<&str>) -> Result<ExitStatus, CliError> {
    let run = name.map(|name| app.find(name)).transpose()?;
    let found = app.runtime.verify(run)?;
    match app.settings.form {
        OutputFormat::Json => output::print_json(&VerifyJson {
            ok: found.is_ok(),
            found: &found,
        })?,
        OutputFormat::Human => output::print(&lines(&found))?,
    }
    Ok(if found.is_ok() {
        ExitStatus::Ok
    } else {
        ExitStatus::Failed
    })
}

fn lines(found: &Verification) -> Vec<StyledLine> {
    let events = many(found.events, "record", "records");
    let runs = many(found.runs, "run", "runs");
    let head = StyledLine::from(format!("{events} in {runs}: "));
    let mut lines = vec![if found.is_ok() {
        head.with(LineStyle::Good, "ok")
    } else {
        let problems = many(found.problems.len() as u64, "problem", "problems");
        head.with(LineStyle::Bad, problems)
    }];
    lines.extend(found.problems.iter().map(|problem| {
        StyledLine::from("  ")
            .with(LineStyle::Bad, "✗ ")
            .with(LineStyle::Plain, problem.to_string())
    }));
    lines.extend(found.shredded.iter().map(|run| {
        StyledLine::from(format!(
            "  {run} was shredded: its chain is valid, its content is destroyed"
        ))
    }));
    let notes = found.notes.iter();
    lines.extend(notes.map(|note| StyledLine::new().with(LineStyle::Faint, format!("  {note}"))));
    lines
}
