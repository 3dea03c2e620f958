//! `fathom show --domain`: what agents and people have written down, with its versions.

use fathom_core::domain::OWNERS;
use fathom_core::id::RunId;
use fathom_core::records::{Author, Kind, Record};
use serde::Serialize;

use crate::app::App;
use crate::error::CliError;
use crate::exit::Exit;
use crate::figures;
use crate::line::{Line, Tone};
use crate::output;
use crate::plain_text::safe;
use crate::settings::Form;
use crate::tree::COLUMNS_MIN;

/// Most records of a kind that are shown.
const RECORDS_MAX: usize = 1_000;

#[derive(Serialize)]
struct DomainJson {
    domain: String,
    records: Vec<Record>,
}

/// Shows the newest versions of a domain's records, or all versions of one of them; those of one run, if it is named.
pub(crate) fn domain(
    app: &App,
    name: &str,
    run: Option<RunId>,
    id: Option<&str>,
) -> Result<Exit, CliError> {
    let kinds: Vec<Kind> = Kind::of(name).collect();
    if kinds.is_empty() {
        let known: Vec<&str> = OWNERS.iter().map(|owners| owners.domain).collect();
        return Err(CliError::BadValue {
            what: "--domain".to_owned(),
            value: name.to_owned(),
            why: format!("expected one of {}", known.join(", ")),
        });
    }
    let store = app.runtime.domains().records()?;
    let mut records = Vec::new();
    for kind in kinds {
        let found = match id {
            Some(id) => store.versions(kind, id),
            None => store.list(kind, 0, RECORDS_MAX),
        };
        records.extend(found.map_err(fathom_host::HostError::from)?);
    }
    records.retain(|record| run.is_none_or(|run| is_of(&record.by, run)));
    records.sort_by_key(|record| record.seq);
    match app.settings.form {
        Form::Json => output::print_json(&DomainJson {
            domain: name.to_owned(),
            records,
        })?,
        Form::Human => {
            let width = output::stdout_columns().max(COLUMNS_MIN);
            let mut lines: Vec<Line> = records
                .iter()
                .flat_map(|record| lines(app, record, width))
                .collect();
            if lines.is_empty() {
                lines.push(Line::from("no records"));
            }
            output::print(&lines)?;
        }
    }
    Ok(Exit::Ok)
}

fn is_of(author: &Author, wanted: RunId) -> bool {
    matches!(author, Author::Episode { run, .. } if *run == wanted)
}

fn lines(app: &App, record: &Record, width: usize) -> [Line; 2] {
    let by = match &record.by {
        Author::Episode { run, episode, role } => {
            let run: String = run.to_string().chars().take(13).collect();
            format!("{role} in {run} {episode}")
        }
        Author::Person { name } => name.clone(),
        Author::Ingestion { name } => format!("from {name}"),
    };
    let mut about = format!(
        "  version {}  {} ago  {}",
        record.version,
        figures::age(app.now(), record.at_ms),
        safe(&by)
    );
    if !record.evidence.is_empty() {
        about.push_str("  based on ");
        about.push_str(&safe(&record.evidence.join(", ")));
    }
    let head = Line::new()
        .with(
            Tone::Strong,
            format!("{} {}", record.kind, safe(&record.id)),
        )
        .with(Tone::Faint, about);
    let said = safe(&record.body.to_string());
    let body = Line::new().with(Tone::Plain, format!("  {said}"));
    [head.clipped(width), body.clipped(width)]
}
