//! `fathom redact`: the filters of what leaves, for any text.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use fathom_host::HostError;
use fathom_output::redact::{EntitySpan, RedactAction, RedactKey, RedactRules, TextRedactor};
use fathom_store::read_key_file;
use serde::Serialize;

use crate::args::RedactArgs;
use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::settings::inputs;
use crate::settings::{OutputFormat, RunSettings};
use crate::terminal::masking::{self, Unmasked};
use crate::terminal::output;
use crate::terminal::plain_text::{pad, safe};
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::view::units::many;

/// Bytes that are read at a time.
// Filtered piece by piece, so that a log of any length fits into memory.
const PIECE_BYTES: usize = 64 * 1024;
/// Largest file of rules.
const RULES_BYTES_MAX: u64 = 1 << 20;

#[derive(Serialize)]
struct RedactJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    spans: Vec<EntitySpan>,
    /// True if a person should review it.
    needs_review: bool,
}

#[derive(Serialize)]
struct OpenedJson {
    text: String,
    opened: usize,
    /// Tokens that stand as they were: another key sealed them, or someone changed them.
    refused: usize,
}

pub(crate) fn redact(asked: &RedactArgs, settings: &RunSettings) -> Result<ExitStatus, CliError> {
    let key = asked.key_file.as_deref().map(key).transpose()?;
    if asked.open {
        return open_tokens(asked.file.as_deref(), key, settings);
    }
    let rules = match &asked.rules {
        None => RedactRules::builtin(),
        Some(file) => RedactRules::parse(&inputs::read_file(file, RULES_BYTES_MAX)?),
    };
    let redactor = TextRedactor::new(&rules?, key)?;
    let mut input = open(asked.file.as_deref())?;
    let mut stream = redactor.stream();
    let mut piece = vec![0; PIECE_BYTES];
    let mut spans = Vec::new();
    let mut kept = String::new();
    let shows_text = settings.form == OutputFormat::Human && !asked.spans;
    loop {
        let read = match input.read(&mut piece) {
            Ok(read) => read,
            // A signal is not the end of the input.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(source) => {
                let what = asked
                    .file
                    .as_deref()
                    .map_or("stdin".into(), |file| file.display().to_string());
                return Err(CliError::Unreadable { what, source });
            }
        };
        let shown = match piece.get(..read) {
            Some(piece) if read > 0 => stream.push_bytes(piece),
            // Values may span two pieces, so the stream holds its tail back until it knows the end.
            _ => stream.finish(),
        };
        spans.extend(stream.take_spans());
        if shows_text {
            output::print_original(Unmasked::Redact, &shown)?;
        } else if !asked.spans {
            // JSON is one object, so its text has to be complete before it is printed.
            kept.push_str(&shown);
        }
        if read == 0 {
            break;
        }
    }
    match settings.form {
        OutputFormat::Json => {
            let needs_review = spans.iter().any(|span| span.action == RedactAction::Review);
            output::print_json(&RedactJson {
                text: (!asked.spans).then_some(kept),
                spans,
                needs_review,
            })?;
        }
        OutputFormat::Human if asked.spans => {
            let lines: Vec<StyledLine> = spans.iter().map(line).collect();
            output::print(&lines)?;
        }
        OutputFormat::Human => {}
    }
    Ok(ExitStatus::Ok)
}

fn key(file: &Path) -> Result<RedactKey, CliError> {
    let bytes = read_key_file(file).map_err(HostError::from)?;
    Ok(RedactKey::from_bytes(*bytes))
}

/// Turns tokens back. A token may lie across what is read at a time, so the text is read as a whole.
fn open_tokens(
    file: Option<&Path>,
    key: Option<RedactKey>,
    settings: &RunSettings,
) -> Result<ExitStatus, CliError> {
    let text = match file {
        Some(file) if file != Path::new("-") => inputs::read_text(file)?,
        _ => inputs::read_long_stdin()?,
    };
    let opened = TextRedactor::new(&RedactRules::builtin()?, key)?.detokenise(&text)?;
    // The key is the right to see them.
    masking::lift(Unmasked::Opened);
    if settings.form == OutputFormat::Json {
        output::print_json(&OpenedJson {
            text: opened.text,
            opened: opened.opened,
            refused: opened.refused,
        })?;
        return Ok(ExitStatus::Ok);
    }
    output::print_original(Unmasked::Opened, &opened.text)?;
    if opened.refused > 0 {
        let tokens = many(opened.refused as u64, "token", "tokens");
        output::say(&[StyledLine::from(format!(
            "{tokens} left unchanged: sealed with another key or altered"
        ))]);
    }
    Ok(ExitStatus::Ok)
}

fn open(file: Option<&Path>) -> Result<Box<dyn Read>, CliError> {
    match file {
        Some(file) if file != Path::new("-") => {
            let opened = File::open(file).map_err(|source| CliError::Unreadable {
                what: file.display().to_string(),
                source,
            })?;
            Ok(Box::new(opened))
        }
        _ => Ok(Box::new(io::stdin().lock())),
    }
}

/// Place of a finding, never its content.
fn line(span: &EntitySpan) -> StyledLine {
    StyledLine::new()
        .with(
            LineStyle::Faint,
            pad(&format!("{}–{}", span.start, span.end), 16),
        )
        .with(LineStyle::Strong, pad(&safe(span.kind.name()), 20))
        .with(LineStyle::Plain, span.action.to_string())
}
