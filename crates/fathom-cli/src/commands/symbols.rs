//! `fathom symbols`, `kits` and `agents`: the symbol store by hand.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fathom_core::domain::symbols::{
    AgentProfile, FoundSymbol, Kit, SearchBy, Symbol, SymbolAnswer, SymbolFaultKind, SymbolRequest,
};
use fathom_host::HostError;
use fathom_host::domains::by_hand;
use fathom_store::symbols::{ListOf, Progress, SymbolCatalogue, SymbolStore, VersionedSymbols};
use serde::Serialize;

use super::phases::phases_of;
use crate::app::App;
use crate::args::{ListChoice, SearchChoice, SymbolsCommand};
use crate::atomic_file;
use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::settings::inputs;
use crate::settings::{OutputFormat, RunSettings, Verbosity};
use crate::terminal::masking::Unmasked;
use crate::terminal::output;
use crate::terminal::plain_text::safe;
use crate::terminal::status_line::StatusLine;
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::view::units::many;

/// The store, with what the charter brings.
struct SymbolShelf {
    app: App,
    store: Arc<VersionedSymbols>,
}

impl SymbolShelf {
    fn open(settings: RunSettings) -> Result<Self, CliError> {
        let charter = settings.charter()?;
        let app = App::open(settings)?;
        let mut meter = StatusLine::new(app.settings.loudness);
        // The charter's symbols go in before the first request, as they do in a run, so that both see the same.
        let seeded = app.runtime.seed(phases_of(&charter)?, &mut |progress| {
            embedding(&mut meter, progress);
        });
        // Before the error is returned, since a line drawn in place would be left on the terminal.
        meter.end();
        seeded?;
        let store = app.runtime.domains().symbols()?;
        Ok(Self { app, store })
    }

    /// Asks the store in the name of the person at the terminal. What it does not do is an error.
    fn ask(&self, request: &SymbolRequest) -> Result<SymbolAnswer, CliError> {
        let key = by_hand();
        let answer = self
            .store
            .carry_out(&key, request)
            .map_err(HostError::from)?;
        match answer.fault {
            None => Ok(answer),
            Some(fault) => Err(CliError::Symbols {
                hint: match fault.kind {
                    SymbolFaultKind::NotFound => "find symbol IDs with `fathom symbols search`",
                    SymbolFaultKind::Invalid => "see docs/charters.md for the format of a symbol",
                    SymbolFaultKind::NoEmbeddings => {
                        "run `fathom models pull minilm`, or search with `--by words`"
                    }
                    SymbolFaultKind::Unavailable => {
                        "check that the server is running, and `[symbols]` in fathom.toml"
                    }
                },
                message: fault.message,
            }),
        }
    }

    fn is_json(&self) -> bool {
        self.app.settings.form == OutputFormat::Json
    }
}

fn embedding(meter: &mut StatusLine, Progress { done, total }: Progress) {
    meter.show(&format!("embedding the symbols: {done} of {total}"));
}

pub(crate) fn carry_out(
    command: SymbolsCommand,
    settings: RunSettings,
) -> Result<ExitStatus, CliError> {
    let shelf = SymbolShelf::open(settings)?;
    match command {
        SymbolsCommand::Get { ids } => {
            found(&shelf, &SymbolRequest::Get { ids }, ListDetail::Whole)
        }
        SymbolsCommand::Put { file } => {
            let symbol = Box::new(read(&file)?);
            found(&shelf, &SymbolRequest::Put { symbol }, ListDetail::Line)
        }
        SymbolsCommand::Delete { id } => {
            shelf.ask(&SymbolRequest::Delete { id: id.clone() })?;
            if shelf.is_json() {
                output::print_json(&serde_json::json!({ "deleted": id }))?;
            } else {
                output::print(&[
                    StyledLine::new().with(LineStyle::Plain, format!("deleted {}", safe(&id)))
                ])?;
            }
            Ok(ExitStatus::Ok)
        }
        SymbolsCommand::Search { text, by, limit } => {
            let by = match by {
                SearchChoice::Both => SearchBy::Both,
                SearchChoice::Meaning => SearchBy::Meaning,
                SearchChoice::Words => SearchBy::Words,
            };
            found(
                &shelf,
                &SymbolRequest::Search { text, by, limit },
                ListDetail::Line,
            )
        }
        SymbolsCommand::Links { ids, depth, limit } => {
            let request = SymbolRequest::Links { ids, depth, limit };
            found(&shelf, &request, ListDetail::Line)
        }
        SymbolsCommand::Versions { id } => versions(&shelf, &id),
        SymbolsCommand::Import { files, list } => {
            let bare = match list {
                ListChoice::Symbols => ListOf::Symbols,
                ListChoice::Kits => ListOf::Kits,
                ListChoice::Agents => ListOf::Agents,
            };
            import(&shelf, &files, bare)
        }
        SymbolsCommand::Export { file } => export(&shelf, file.as_deref()),
    }
}

/// Amount of detail shown of a symbol.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ListDetail {
    Line,
    Whole,
}

fn found(
    shelf: &SymbolShelf,
    request: &SymbolRequest,
    detail: ListDetail,
) -> Result<ExitStatus, CliError> {
    let answer = shelf.ask(request)?;
    if shelf.is_json() {
        output::print_json(&answer)?;
    } else {
        let mut lines = Vec::new();
        for found in &answer.symbols {
            lines.extend(shown(found, detail));
        }
        output::print(&lines)?;
        if shelf.app.settings.loudness != Verbosity::Quiet {
            output::say(&remarks(&answer));
        }
    }
    // Ids that somebody named and that are not there.
    let is_get = matches!(request, SymbolRequest::Get { .. });
    Ok(if is_get && !answer.missing.is_empty() {
        ExitStatus::Failed
    } else {
        ExitStatus::Ok
    })
}

fn remarks(answer: &SymbolAnswer) -> Vec<StyledLine> {
    let mut lines = Vec::new();
    if !answer.missing.is_empty() {
        let missing = safe(&answer.missing.join(", "));
        lines.push(StyledLine::new().with(LineStyle::Odd, format!("not found: {missing}")));
    }
    if let Some(note) = &answer.note {
        lines.push(StyledLine::new().with(LineStyle::Faint, safe(note)));
    }
    if answer.symbols.is_empty() && answer.missing.is_empty() {
        lines.push(StyledLine::new().with(LineStyle::Faint, "no symbols found"));
    }
    lines
}

fn shown(found: &FoundSymbol, detail: ListDetail) -> Vec<StyledLine> {
    let symbol = &found.symbol;
    let mut head = StyledLine::new()
        .with(LineStyle::Strong, safe(&symbol.id))
        .with(LineStyle::Plain, format!("  {}", safe(&symbol.name)));
    if let Some(near) = found.near_milli {
        head = head.with(
            LineStyle::Faint,
            format!("  {}.{:03}", near / 1000, near % 1000),
        );
    }
    let said = symbol.macro_text.as_deref().unwrap_or_default();
    match detail {
        ListDetail::Line => vec![head.with(LineStyle::Faint, format!("  {}", safe(said)))],
        ListDetail::Whole => {
            let mut lines =
                vec![head.with(LineStyle::Faint, format!("  version {}", found.version))];
            lines.extend(fields(symbol));
            lines
        }
    }
}

/// Every field of a symbol but its id and name, in the order of a catalogue.
fn fields(thing: &impl Serialize) -> Vec<StyledLine> {
    let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(thing) else {
        return Vec::new();
    };
    let mut lines = Vec::new();
    for (name, value) in fields {
        if ["id", "name", "kit"].contains(&name.as_str()) {
            continue;
        }
        let pairs = match value {
            serde_json::Value::Object(inner) => inner
                .into_iter()
                .map(|(side, value)| (format!("{name}.{side}"), value))
                .collect(),
            value => vec![(name, value)],
        };
        for (name, value) in pairs {
            let said = match value {
                serde_json::Value::String(said) => said,
                serde_json::Value::Array(list) => {
                    let each = list
                        .iter()
                        .map(|one| one.as_str().map_or_else(|| one.to_string(), str::to_owned));
                    each.collect::<Vec<_>>().join(", ")
                }
                other => other.to_string(),
            };
            lines.push(
                StyledLine::new()
                    .with(LineStyle::Faint, format!("  {name}  "))
                    .with(LineStyle::Plain, safe(&said)),
            );
        }
    }
    lines
}

fn versions(shelf: &SymbolShelf, id: &str) -> Result<ExitStatus, CliError> {
    #[derive(Serialize)]
    struct ShownVersion<'a> {
        version: u64,
        symbol: Option<&'a Symbol>,
    }
    let versions = shelf.store.versions(id).map_err(HostError::from)?;
    if shelf.is_json() {
        let versions: Vec<ShownVersion<'_>> = versions
            .iter()
            .map(|one| ShownVersion {
                version: one.version,
                symbol: one.symbol.as_ref(),
            })
            .collect();
        output::print_json(&serde_json::json!({ "id": id, "versions": versions }))?;
        return Ok(ExitStatus::Ok);
    }
    let mut lines = Vec::new();
    for one in &versions {
        let said = one.symbol.as_ref().map_or_else(
            || "deleted".to_owned(),
            |symbol| {
                let said = symbol.macro_text.as_deref().unwrap_or_default();
                format!("{}  {}", safe(&symbol.name), safe(said))
            },
        );
        lines.push(
            StyledLine::new()
                .with(LineStyle::Strong, one.version.to_string())
                .with(LineStyle::Plain, format!("  {said}")),
        );
    }
    output::print(&lines)?;
    Ok(if versions.is_empty() {
        ExitStatus::Failed
    } else {
        ExitStatus::Ok
    })
}

fn import(shelf: &SymbolShelf, files: &[PathBuf], bare: ListOf) -> Result<ExitStatus, CliError> {
    let mut sum = fathom_store::symbols::ImportReport::default();
    for file in files {
        let text = inputs::read_text(file)?;
        let catalogue = SymbolCatalogue::read(&text, bare).map_err(HostError::from)?;
        let mut meter = StatusLine::new(shelf.app.settings.loudness);
        let imported = shelf
            .store
            .import(&catalogue, &mut |progress| embedding(&mut meter, progress));
        meter.end();
        let imported = imported.map_err(HostError::from)?;
        sum.new += imported.new;
        sum.changed += imported.changed;
        sum.unchanged += imported.unchanged;
    }
    if shelf.is_json() {
        let sum = serde_json::json!({ "new": sum.new, "changed": sum.changed, "unchanged": sum.unchanged });
        output::print_json(&sum)?;
    } else {
        let said = format!(
            "{} new, {} changed, {} unchanged",
            sum.new, sum.changed, sum.unchanged
        );
        output::print(&[StyledLine::new().with(LineStyle::Plain, said)])?;
    }
    Ok(ExitStatus::Ok)
}

fn export(shelf: &SymbolShelf, file: Option<&Path>) -> Result<ExitStatus, CliError> {
    let catalogue = shelf.store.export().map_err(HostError::from)?;
    let text = catalogue.to_json().map_err(HostError::from)?;
    if let Some(file) = file {
        let written = atomic_file::write_original(Unmasked::SymbolsExport, file, text.as_bytes());
        written.map_err(|source| CliError::Unwritable {
            file: file.to_owned(),
            source,
        })?;
    } else {
        let end = if text.ends_with('\n') { "" } else { "\n" };
        output::print_original(Unmasked::SymbolsExport, &format!("{text}{end}"))?;
    }
    Ok(ExitStatus::Ok)
}

pub(crate) fn kits(id: Option<&str>, settings: RunSettings) -> Result<ExitStatus, CliError> {
    let shelf = SymbolShelf::open(settings)?;
    if let Some(id) = id {
        let answer = shelf.ask(&SymbolRequest::Kit { id: id.to_owned() })?;
        return one(&shelf, answer.kit.as_ref(), id, &answer);
    }
    let kits = shelf.store.kits().map_err(HostError::from)?;
    if shelf.is_json() {
        output::print_json(&serde_json::json!({ "kits": kits }))?;
        return Ok(ExitStatus::Ok);
    }
    let line = |kit: &Kit| {
        let count = [&kit.anchor, &kit.exec]
            .into_iter()
            .flatten()
            .map(|ids| ids.as_slice().len())
            .sum::<usize>();
        let purpose = kit.other.get("purpose").and_then(serde_json::Value::as_str);
        StyledLine::new()
            .with(LineStyle::Strong, safe(&kit.id))
            .with(
                LineStyle::Plain,
                format!("  {}", safe(purpose.unwrap_or_default())),
            )
            .with(
                LineStyle::Faint,
                format!("  {}", many(count as u64, "symbol", "symbols")),
            )
    };
    output::print(&kits.iter().map(line).collect::<Vec<_>>())?;
    Ok(ExitStatus::Ok)
}

pub(crate) fn personas(id: Option<&str>, settings: RunSettings) -> Result<ExitStatus, CliError> {
    let shelf = SymbolShelf::open(settings)?;
    if let Some(id) = id {
        let answer = shelf.ask(&SymbolRequest::Persona { id: id.to_owned() })?;
        return one(&shelf, answer.persona.as_ref(), id, &answer);
    }
    let agents = shelf.store.personas().map_err(HostError::from)?;
    if shelf.is_json() {
        output::print_json(&serde_json::json!({ "agents": agents }))?;
        return Ok(ExitStatus::Ok);
    }
    let line = |agent: &AgentProfile| {
        StyledLine::new()
            .with(LineStyle::Strong, safe(&agent.id))
            .with(
                LineStyle::Plain,
                format!(
                    "  {}",
                    safe(agent.description.as_deref().unwrap_or_default())
                ),
            )
    };
    output::print(&agents.iter().map(line).collect::<Vec<_>>())?;
    Ok(ExitStatus::Ok)
}

/// A kit or an agent, with its symbols.
fn one(
    shelf: &SymbolShelf,
    thing: Option<&impl Serialize>,
    id: &str,
    answer: &SymbolAnswer,
) -> Result<ExitStatus, CliError> {
    if shelf.is_json() {
        output::print_json(answer)?;
        return Ok(ExitStatus::Ok);
    }
    let mut lines = vec![StyledLine::new().with(LineStyle::Strong, safe(id))];
    if let Some(thing) = thing {
        lines.extend(fields(thing));
    }
    for found in &answer.symbols {
        lines.extend(shown(found, ListDetail::Line));
    }
    output::print(&lines)?;
    output::say(&remarks(answer));
    Ok(ExitStatus::Ok)
}

/// A symbol from a JSON file or stdin.
fn read(file: &Path) -> Result<Symbol, CliError> {
    let text = if file.as_os_str() == "-" {
        inputs::read_stdin()?
    } else {
        inputs::read_text(file)?
    };
    serde_json::from_str(&text).map_err(|error| CliError::Symbols {
        message: format!("`{}` is not a symbol: {error}", file.display()),
        hint: "see docs/charters.md for the format of a symbol",
    })
}
