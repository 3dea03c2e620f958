//! `fathom verify`: is the journal what was written?

use fathom_store::Verification;
use serde::Serialize;

use crate::app::App;
use crate::error::CliError;
use crate::exit::Exit;
use crate::figures::many;
use crate::line::{Line, Tone};
use crate::output;
use crate::settings::Form;

#[derive(Serialize)]
struct VerifyJson<'a> {
    ok: bool,
    #[serde(flatten)]
    found: &'a Verification,
}

pub(crate) fn verify(app: &App, name: Option<&str>) -> Result<Exit, CliError> {
    let run = name.map(|name| app.find(name)).transpose()?;
    let found = app.runtime.verify(run)?;
    match app.settings.form {
        Form::Json => output::print_json(&VerifyJson {
            ok: found.is_ok(),
            found: &found,
        })?,
        Form::Human => output::print(&lines(&found))?,
    }
    Ok(if found.is_ok() {
        Exit::Ok
    } else {
        Exit::Failed
    })
}

fn lines(found: &Verification) -> Vec<Line> {
    let events = many(found.events, "record", "records");
    let runs = many(found.runs, "run", "runs");
    let head = Line::from(format!("{events} in {runs}: "));
    let mut lines = vec![if found.is_ok() {
        head.with(Tone::Good, "ok")
    } else {
        let problems = many(found.problems.len() as u64, "problem", "problems");
        head.with(Tone::Bad, problems)
    }];
    lines.extend(found.problems.iter().map(|problem| {
        Line::from("  ")
            .with(Tone::Bad, "✗ ")
            .with(Tone::Plain, problem.to_string())
    }));
    lines.extend(found.shredded.iter().map(|run| {
        Line::from(format!(
            "  {run} was shredded: its chain is valid, its content is destroyed"
        ))
    }));
    let notes = found.notes.iter();
    lines.extend(notes.map(|note| Line::new().with(Tone::Faint, format!("  {note}"))));
    lines
}
