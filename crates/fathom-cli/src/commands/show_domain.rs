//! `fathom show --domain`: what agents and people have written down, with its versions.

use fathom_core::domain::OWNERS;
use fathom_core::domain::records::{DomainRecord, RecordAuthor, RecordKind};
use fathom_core::id::RunId;
use serde::Serialize;

use crate::app::App;
use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::settings::OutputFormat;
use crate::terminal::output;
use crate::terminal::plain_text::safe;
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::view::tree::COLUMNS_MIN;
use crate::view::units;

/// Most records of a kind that are shown.
const RECORDS_MAX: usize = 1_000;

#[derive(Serialize)]
struct DomainJson {
    domain: String,
    records: Vec<DomainRecord>,
}

/// Shows the newest versions of a domain's records, or all versions of one of them; those of one run, if it is named.
pub(crate) fn domain(
    app: &App,
    name: &str,
    run: Option<RunId>,
    id: Option<&str>,
) -> Result<ExitStatus, CliError> {
    let kinds: Vec<RecordKind> = RecordKind::of(name).collect();
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
            // One record is asked for with its history, a list with the newest versions only.
            Some(id) => store.versions(kind, id),
            None => store.list(kind, 0, RECORDS_MAX),
        };
        records.extend(found.map_err(fathom_host::HostError::from)?);
    }
    records.retain(|record| run.is_none_or(|run| is_of(&record.by, run)));
    records.sort_by_key(|record| record.seq);
    match app.settings.form {
        OutputFormat::Json => output::print_json(&DomainJson {
            domain: name.to_owned(),
            records,
        })?,
        OutputFormat::Human => {
            let width = output::stdout_columns().max(COLUMNS_MIN);
            let mut lines: Vec<StyledLine> = records
                .iter()
                .flat_map(|record| lines(app, record, width))
                .collect();
            if lines.is_empty() {
                lines.push(StyledLine::from("no records"));
            }
            output::print(&lines)?;
        }
    }
    Ok(ExitStatus::Ok)
}

fn is_of(author: &RecordAuthor, wanted: RunId) -> bool {
    matches!(author, RecordAuthor::Episode { run, .. } if *run == wanted)
}

fn lines(app: &App, record: &DomainRecord, width: usize) -> [StyledLine; 2] {
    let by = match &record.by {
        RecordAuthor::Episode { run, episode, role } => {
            let run: String = run.to_string().chars().take(13).collect();
            format!("{role} in {run} {episode}")
        }
        RecordAuthor::Person { name } => name.clone(),
        RecordAuthor::Ingestion { name } => format!("from {name}"),
    };
    let mut about = format!(
        "  version {}  {} ago  {}",
        record.version,
        units::age(app.now(), record.at_ms),
        safe(&by)
    );
    if !record.evidence.is_empty() {
        about.push_str("  based on ");
        about.push_str(&safe(&record.evidence.join(", ")));
    }
    let head = StyledLine::new()
        .with(
            LineStyle::Strong,
            format!("{} {}", record.kind, safe(&record.id)),
        )
        .with(LineStyle::Faint, about);
    let said = safe(&record.body.to_string());
    let body = StyledLine::new().with(LineStyle::Plain, format!("  {said}"));
    [head.clipped(width), body.clipped(width)]
}
