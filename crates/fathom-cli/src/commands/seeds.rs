//! `fathom seeds`: what was kept for later.

use fathom_host::HostError;
use fathom_store::channels::{SeedKind, SeedState, SeedStore, ThoughtSeed};
use serde::Serialize;

use crate::app::App;
use crate::args::SeedsCommand;
use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::settings::{OutputFormat, Verbosity};
use crate::terminal::output;
use crate::terminal::plain_text::one_line;
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::view::units;

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

impl From<ThoughtSeed> for SeedJson {
    fn from(seed: ThoughtSeed) -> Self {
        Self {
            id: seed.id,
            run: seed.run.to_string(),
            kind: seed.kind,
            state: seed.state,
            created_at: units::moment(seed.created),
            text: seed.text,
        }
    }
}

pub(crate) fn carry_out(command: SeedsCommand, app: &App) -> Result<ExitStatus, CliError> {
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
            vec![ThoughtSeed { state, ..seed }]
        }
    };
    match app.settings.form {
        OutputFormat::Json => output::print_json(&SeedsJson {
            seeds: found.into_iter().map(SeedJson::from).collect(),
        })?,
        OutputFormat::Human if found.is_empty() => {
            if app.settings.loudness != Verbosity::Quiet {
                output::say(&[StyledLine::from("no thought seeds".to_owned())]);
            }
        }
        OutputFormat::Human => {
            let width = output::stdout_columns();
            let lines: Vec<StyledLine> = found.iter().flat_map(|seed| lines(seed, width)).collect();
            output::print(&lines)?;
        }
    }
    Ok(ExitStatus::Ok)
}

/// The seed whose id is, or begins with, what was typed. The id of one may be the beginning of another's.
fn named(seeds: &SeedStore, id: String) -> Result<ThoughtSeed, CliError> {
    // The exact id first: it may be a prefix of another one.
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

fn lines(seed: &ThoughtSeed, width: usize) -> [StyledLine; 2] {
    let kind = match seed.kind {
        SeedKind::ThoughtSeed => "idea",
        SeedKind::Verify => "verified",
    };
    let head = StyledLine::new()
        .with(LineStyle::Strong, seed.state.as_str())
        .with(
            LineStyle::Faint,
            format!(" {kind} {} ", units::moment(seed.created)),
        )
        .with(LineStyle::Plain, seed.id.clone());
    let text = seed
        .text
        .as_deref()
        .map_or("(its run was shredded)".to_owned(), one_line);
    let text = StyledLine::new().with(LineStyle::Plain, format!("    {text}"));
    [head.clipped(width), text.clipped(width)]
}
