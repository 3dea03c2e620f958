//! `fathom seeds`: what was kept for later.

use fathom_host::HostError;
use fathom_store::channels::{Seed, SeedKind, SeedState, Seeds};
use serde::Serialize;

use crate::app::App;
use crate::error::CliError;
use crate::exit::Exit;
use crate::figures;
use crate::line::{Line, Tone};
use crate::output;
use crate::plain_text::one_line;
use crate::settings::{Form, Loudness};
use crate::typed::SeedsCommand;

#[derive(Serialize)]
struct SeedsJson {
    seeds: Vec<SeedJson>,
}

/// A seed, as `--json` shows it.
#[derive(Serialize)]
pub(super) struct SeedJson {
    id: String,
    run: String,
    kind: SeedKind,
    state: SeedState,
    created_at: String,
    /// None when the content of its run is gone.
    text: Option<String>,
}

impl From<Seed> for SeedJson {
    fn from(seed: Seed) -> Self {
        Self {
            id: seed.id,
            run: seed.run.to_string(),
            kind: seed.kind,
            state: seed.state,
            created_at: figures::moment(seed.created),
            text: seed.text,
        }
    }
}

pub(crate) fn carry_out(command: SeedsCommand, app: &App) -> Result<Exit, CliError> {
    let seeds = app.runtime.seeds()?;
    let found = match command {
        SeedsCommand::List { state } => {
            let all = seeds.list(state.map(SeedState::from));
            all.map_err(HostError::from)?
        }
        SeedsCommand::Mark { id, state } => {
            let seed = named(&seeds, id)?;
            let state = state.into();
            seeds.mark(&seed.id, state).map_err(HostError::from)?;
            vec![Seed { state, ..seed }]
        }
    };
    match app.settings.form {
        Form::Json => output::print_json(&SeedsJson {
            seeds: found.into_iter().map(SeedJson::from).collect(),
        })?,
        Form::Human if found.is_empty() => {
            if app.settings.loudness != Loudness::Quiet {
                output::say(&[Line::from("no thought seeds".to_owned())]);
            }
        }
        Form::Human => {
            let width = output::stdout_columns();
            let lines: Vec<Line> = found.iter().flat_map(|seed| lines(seed, width)).collect();
            output::print(&lines)?;
        }
    }
    Ok(Exit::Ok)
}

/// The seed whose id is, or begins with, what was typed. The id of one may be the beginning of another's.
fn named(seeds: &Seeds, id: String) -> Result<Seed, CliError> {
    if let Some(seed) = seeds.get(&id).map_err(HostError::from)? {
        return Ok(seed);
    }
    let all = seeds.list(None).map_err(HostError::from)?;
    let mut named = all.into_iter().filter(|seed| seed.id.starts_with(&id));
    match (named.next(), named.next()) {
        (Some(seed), None) => Ok(seed),
        (Some(_), Some(_)) => Err(CliError::AmbiguousSeed { id }),
        (None, _) => Err(CliError::NoSuchSeed { id }),
    }
}

fn lines(seed: &Seed, width: usize) -> [Line; 2] {
    let kind = match seed.kind {
        SeedKind::ThoughtSeed => "idea",
        SeedKind::Verify => "verified",
    };
    let head = Line::new()
        .with(Tone::Strong, seed.state.as_str())
        .with(
            Tone::Faint,
            format!(" {kind} {} ", figures::moment(seed.created)),
        )
        .with(Tone::Plain, seed.id.clone());
    let text = seed
        .text
        .as_deref()
        .map_or("(its run was shredded)".to_owned(), one_line);
    let text = Line::new().with(Tone::Plain, format!("    {text}"));
    [head.clipped(width), text.clipped(width)]
}
