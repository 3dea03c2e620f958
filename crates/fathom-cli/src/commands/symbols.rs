//! `fathom symbols`, `kits` and `agents`: the symbol store by hand.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fathom_core::symbols::{
    Found, Kit, Persona, SearchBy, Symbol, SymbolAnswer, SymbolFaultKind, SymbolRequest,
};
use fathom_host::HostError;
use fathom_host::domains::by_hand;
use fathom_store::symbols::{Catalogue, ListOf, Progress, SymbolStore, Symbols};
use serde::Serialize;

use super::phases::phases_of;
use crate::app::App;
use crate::error::CliError;
use crate::exit::Exit;
use crate::figures::many;
use crate::inputs;
use crate::line::{Line, Tone};
use crate::masking::Original;
use crate::output;
use crate::passing::Passing;
use crate::plain_text::safe;
use crate::settings::{Form, Loudness, Settings};
use crate::typed::{ListChoice, SearchWay, SymbolsCommand};
use crate::whole_file;

/// The store, with what the charter brings.
struct Shelf {
    app: App,
    store: Arc<Symbols>,
}

impl Shelf {
    fn open(settings: Settings) -> Result<Self, CliError> {
        let charter = settings.charter()?;
        let app = App::open(settings)?;
        let mut meter = Passing::new(app.settings.loudness);
        let seeded = app.runtime.seed(phases_of(&charter)?, &mut |progress| {
            embedding(&mut meter, progress);
        });
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
        self.app.settings.form == Form::Json
    }
}

fn embedding(meter: &mut Passing, Progress { done, total }: Progress) {
    meter.show(&format!("embedding the symbols: {done} of {total}"));
}

pub(crate) fn carry_out(command: SymbolsCommand, settings: Settings) -> Result<Exit, CliError> {
    let shelf = Shelf::open(settings)?;
    match command {
        SymbolsCommand::Get { ids } => found(&shelf, &SymbolRequest::Get { ids }, Detail::Whole),
        SymbolsCommand::Put { file } => {
            let symbol = Box::new(read(&file)?);
            found(&shelf, &SymbolRequest::Put { symbol }, Detail::Line)
        }
        SymbolsCommand::Delete { id } => {
            shelf.ask(&SymbolRequest::Delete { id: id.clone() })?;
            if shelf.is_json() {
                output::print_json(&serde_json::json!({ "deleted": id }))?;
            } else {
                output::print(&[Line::new().with(Tone::Plain, format!("deleted {}", safe(&id)))])?;
            }
            Ok(Exit::Ok)
        }
        SymbolsCommand::Search { text, by, limit } => {
            let by = match by {
                SearchWay::Both => SearchBy::Both,
                SearchWay::Meaning => SearchBy::Meaning,
                SearchWay::Words => SearchBy::Words,
            };
            found(
                &shelf,
                &SymbolRequest::Search { text, by, limit },
                Detail::Line,
            )
        }
        SymbolsCommand::Links { ids, depth, limit } => {
            let request = SymbolRequest::Links { ids, depth, limit };
            found(&shelf, &request, Detail::Line)
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

/// How much of a symbol is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    Line,
    Whole,
}

fn found(shelf: &Shelf, request: &SymbolRequest, detail: Detail) -> Result<Exit, CliError> {
    let answer = shelf.ask(request)?;
    if shelf.is_json() {
        output::print_json(&answer)?;
    } else {
        let mut lines = Vec::new();
        for found in &answer.symbols {
            lines.extend(shown(found, detail));
        }
        output::print(&lines)?;
        if shelf.app.settings.loudness != Loudness::Quiet {
            output::say(&remarks(&answer));
        }
    }
    // Ids that somebody named and that are not there.
    let is_get = matches!(request, SymbolRequest::Get { .. });
    Ok(if is_get && !answer.missing.is_empty() {
        Exit::Failed
    } else {
        Exit::Ok
    })
}

fn remarks(answer: &SymbolAnswer) -> Vec<Line> {
    let mut lines = Vec::new();
    if !answer.missing.is_empty() {
        let missing = safe(&answer.missing.join(", "));
        lines.push(Line::new().with(Tone::Odd, format!("not found: {missing}")));
    }
    if let Some(note) = &answer.note {
        lines.push(Line::new().with(Tone::Faint, safe(note)));
    }
    if answer.symbols.is_empty() && answer.missing.is_empty() {
        lines.push(Line::new().with(Tone::Faint, "no symbols found"));
    }
    lines
}

fn shown(found: &Found, detail: Detail) -> Vec<Line> {
    let symbol = &found.symbol;
    let mut head = Line::new()
        .with(Tone::Strong, safe(&symbol.id))
        .with(Tone::Plain, format!("  {}", safe(&symbol.name)));
    if let Some(near) = found.near_milli {
        head = head.with(Tone::Faint, format!("  {}.{:03}", near / 1000, near % 1000));
    }
    let said = symbol.macro_text.as_deref().unwrap_or_default();
    match detail {
        Detail::Line => vec![head.with(Tone::Faint, format!("  {}", safe(said)))],
        Detail::Whole => {
            let mut lines = vec![head.with(Tone::Faint, format!("  version {}", found.version))];
            lines.extend(fields(symbol));
            lines
        }
    }
}

/// Every field of a symbol but its id and name, in the order of a catalogue.
fn fields(thing: &impl Serialize) -> Vec<Line> {
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
                Line::new()
                    .with(Tone::Faint, format!("  {name}  "))
                    .with(Tone::Plain, safe(&said)),
            );
        }
    }
    lines
}

fn versions(shelf: &Shelf, id: &str) -> Result<Exit, CliError> {
    #[derive(Serialize)]
    struct Version<'a> {
        version: u64,
        symbol: Option<&'a Symbol>,
    }
    let versions = shelf.store.versions(id).map_err(HostError::from)?;
    if shelf.is_json() {
        let versions: Vec<Version<'_>> = versions
            .iter()
            .map(|one| Version {
                version: one.version,
                symbol: one.symbol.as_ref(),
            })
            .collect();
        output::print_json(&serde_json::json!({ "id": id, "versions": versions }))?;
        return Ok(Exit::Ok);
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
            Line::new()
                .with(Tone::Strong, one.version.to_string())
                .with(Tone::Plain, format!("  {said}")),
        );
    }
    output::print(&lines)?;
    Ok(if versions.is_empty() {
        Exit::Failed
    } else {
        Exit::Ok
    })
}

fn import(shelf: &Shelf, files: &[PathBuf], bare: ListOf) -> Result<Exit, CliError> {
    let mut sum = fathom_store::symbols::Imported::default();
    for file in files {
        let text = inputs::read_text(file)?;
        let catalogue = Catalogue::read(&text, bare).map_err(HostError::from)?;
        let mut meter = Passing::new(shelf.app.settings.loudness);
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
        output::print(&[Line::new().with(Tone::Plain, said)])?;
    }
    Ok(Exit::Ok)
}

fn export(shelf: &Shelf, file: Option<&Path>) -> Result<Exit, CliError> {
    let catalogue = shelf.store.export().map_err(HostError::from)?;
    let text = catalogue.to_json().map_err(HostError::from)?;
    if let Some(file) = file {
        let written = whole_file::write_original(Original::SymbolsExport, file, text.as_bytes());
        written.map_err(|source| CliError::Unwritable {
            file: file.to_owned(),
            source,
        })?;
    } else {
        let end = if text.ends_with('\n') { "" } else { "\n" };
        output::print_original(Original::SymbolsExport, &format!("{text}{end}"))?;
    }
    Ok(Exit::Ok)
}

pub(crate) fn kits(id: Option<&str>, settings: Settings) -> Result<Exit, CliError> {
    let shelf = Shelf::open(settings)?;
    if let Some(id) = id {
        let answer = shelf.ask(&SymbolRequest::Kit { id: id.to_owned() })?;
        return one(&shelf, answer.kit.as_ref(), id, &answer);
    }
    let kits = shelf.store.kits().map_err(HostError::from)?;
    if shelf.is_json() {
        output::print_json(&serde_json::json!({ "kits": kits }))?;
        return Ok(Exit::Ok);
    }
    let line = |kit: &Kit| {
        let count = [&kit.anchor, &kit.exec]
            .into_iter()
            .flatten()
            .map(|ids| ids.as_slice().len())
            .sum::<usize>();
        let purpose = kit.other.get("purpose").and_then(serde_json::Value::as_str);
        Line::new()
            .with(Tone::Strong, safe(&kit.id))
            .with(
                Tone::Plain,
                format!("  {}", safe(purpose.unwrap_or_default())),
            )
            .with(
                Tone::Faint,
                format!("  {}", many(count as u64, "symbol", "symbols")),
            )
    };
    output::print(&kits.iter().map(line).collect::<Vec<_>>())?;
    Ok(Exit::Ok)
}

pub(crate) fn personas(id: Option<&str>, settings: Settings) -> Result<Exit, CliError> {
    let shelf = Shelf::open(settings)?;
    if let Some(id) = id {
        let answer = shelf.ask(&SymbolRequest::Persona { id: id.to_owned() })?;
        return one(&shelf, answer.persona.as_ref(), id, &answer);
    }
    let agents = shelf.store.personas().map_err(HostError::from)?;
    if shelf.is_json() {
        output::print_json(&serde_json::json!({ "agents": agents }))?;
        return Ok(Exit::Ok);
    }
    let line = |agent: &Persona| {
        Line::new().with(Tone::Strong, safe(&agent.id)).with(
            Tone::Plain,
            format!(
                "  {}",
                safe(agent.description.as_deref().unwrap_or_default())
            ),
        )
    };
    output::print(&agents.iter().map(line).collect::<Vec<_>>())?;
    Ok(Exit::Ok)
}

/// A kit or an agent, with its symbols.
fn one(
    shelf: &Shelf,
    thing: Option<&impl Serialize>,
    id: &str,
    answer: &SymbolAnswer,
) -> Result<Exit, CliError> {
    if shelf.is_json() {
        output::print_json(answer)?;
        return Ok(Exit::Ok);
    }
    let mut lines = vec![Line::new().with(Tone::Strong, safe(id))];
    if let Some(thing) = thing {
        lines.extend(fields(thing));
    }
    for found in &answer.symbols {
        lines.extend(shown(found, Detail::Line));
    }
    output::print(&lines)?;
    output::say(&remarks(answer));
    Ok(Exit::Ok)
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
