//! `fathom replay`: fold the journal again and compare.

use fathom_core::run::step::ReplayDifference;
use fathom_host::HostError;
use serde::Serialize;

use crate::app::App;
use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::settings::OutputFormat;
use crate::terminal::output;
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::view::record_lines;
use crate::view::units::many;

/// Differences that are listed; there are more when the first has made all that follow differ.
// One changed prompt can make every later record differ.
const LISTED_MAX: usize = 100;

#[derive(Serialize)]
struct ReplayJson {
    run: fathom_core::id::RunId,
    events: u64,
    differences: usize,
    model_calls: u64,
    details: Vec<DifferenceJson>,
}

#[derive(Serialize)]
struct DifferenceJson {
    episode: fathom_core::id::EpisodeId,
    seq: u64,
    recorded: Vec<&'static str>,
    folded: Vec<&'static str>,
}

pub(crate) fn replay(app: &App, name: &str) -> Result<ExitStatus, CliError> {
    let run = app.find(name)?;
    let replay = app.runtime.replay(run)?;
    let count = replay.differences.len();
    match app.settings.form {
        OutputFormat::Json => output::print_json(&ReplayJson {
            run,
            events: replay.events,
            differences: count,
            model_calls: replay.model_calls,
            details: listed(&replay.differences).collect(),
        })?,
        OutputFormat::Human => {
            let events = many(replay.events, "record", "records");
            let (tone, found) = if count == 0 {
                (LineStyle::Good, "no differences".to_owned())
            } else {
                (
                    LineStyle::Bad,
                    many(count as u64, "difference", "differences"),
                )
            };
            let mut lines = vec![
                StyledLine::from(format!("{events} replayed: "))
                    .with(tone, found)
                    .with(LineStyle::Plain, ", no model calls"),
            ];
            lines.extend(listed(&replay.differences).map(|difference| difference.line()));
            output::print(&lines)?;
        }
    }
    if count == 0 {
        return Ok(ExitStatus::Ok);
    }
    // Told as an error too, but stdout holds its one object already.
    let error = CliError::Run {
        run,
        error: HostError::Differs { run, count },
    };
    output::say(&error.lines());
    Ok(error.exit())
}

fn listed(differences: &[ReplayDifference]) -> impl Iterator<Item = DifferenceJson> {
    differences
        .iter()
        .take(LISTED_MAX)
        .map(|difference| DifferenceJson {
            episode: difference.episode.clone(),
            seq: difference.seq.0,
            recorded: difference.recorded.iter().map(record_lines::name).collect(),
            folded: difference.folded.iter().map(record_lines::name).collect(),
        })
}

impl DifferenceJson {
    fn line(&self) -> StyledLine {
        StyledLine::from(format!(
            "  {}:{}  recorded {}; replayed {}",
            self.episode,
            self.seq,
            self.recorded.join(", "),
            self.folded.join(", ")
        ))
    }
}
