//! `fathom runs`: the list of runs, newest first.

use fathom_core::id::RunId;
use fathom_core::unit::{Nanodollars, Timestamp};
use fathom_host::view::run::RunView;
use fathom_store::RunInfo;
use serde::Serialize;

use crate::app::App;
use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::settings::models::shown;
use crate::settings::{OutputFormat, Verbosity};
use crate::terminal::output;
use crate::terminal::plain_text::{clip, one_line};
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::terminal::table::{self, ColumnSide, GAP, TableColumn};
use crate::view::episode_json::{RunOwnership, readable, run_status};
use crate::view::units;

#[derive(Serialize)]
struct RunsJson {
    runs: Vec<RunJson>,
}

#[derive(Serialize)]
struct RunJson {
    run: RunId,
    status: String,
    program: String,
    model: String,
    created_at: String,
    updated_at: String,
    tokens: u64,
    cost: f64,
    model_calls: u64,
    episodes: u64,
    events: u64,
    /// None when the content is gone.
    question: Option<String>,
}

/// A run and what its story adds to the list.
struct ListedRun {
    info: RunInfo,
    /// Its id, as short as it can be.
    short: String,
    status: String,
    tokens: u64,
    money: Nanodollars,
    question: Option<String>,
}

pub(crate) fn runs(app: &App, limit: u32) -> Result<ExitStatus, CliError> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let infos = app.runtime.runs(limit)?;
    let listed: Vec<ListedRun> = infos
        .into_iter()
        .map(|info| ListedRun::read(app, info))
        .collect();
    match app.settings.form {
        OutputFormat::Json => output::print_json(&RunsJson {
            runs: listed.into_iter().map(RunJson::from).collect(),
        })?,
        OutputFormat::Human if listed.is_empty() => {
            if app.settings.loudness != Verbosity::Quiet {
                let home = app.settings.home.display();
                output::say(&[StyledLine::from(format!("no runs in {home}"))]);
            }
        }
        OutputFormat::Human => output::print(&table(app.now(), &listed, output::stdout_columns()))?,
    }
    Ok(ExitStatus::Ok)
}

impl ListedRun {
    /// A run whose story cannot be read is listed all the same.
    fn read(app: &App, info: RunInfo) -> Self {
        // A run that cannot be read is still listed, since the list is how a user finds it.
        let story = app.runtime.story(info.run).unwrap_or_default();
        let ownership = if !info.state.is_finished() && app.runtime.is_owned(info.run) {
            RunOwnership::Owned
        } else {
            RunOwnership::Free
        };
        let spent = story.spent();
        Self {
            status: run_status(info.state, ownership),
            tokens: spent.tokens,
            money: spent.money,
            question: question(&story),
            short: app.short(info.run),
            info,
        }
    }
}

fn question(story: &RunView) -> Option<String> {
    readable(&story.root()?.started.goal)
}

impl From<ListedRun> for RunJson {
    fn from(listed: ListedRun) -> Self {
        let info = listed.info;
        Self {
            run: info.run,
            status: listed.status,
            program: info.program,
            model: info.model,
            created_at: units::moment(info.created_at),
            updated_at: units::moment(info.updated_at),
            tokens: listed.tokens,
            cost: units::dollars(listed.money),
            model_calls: info.model_calls,
            episodes: info.episodes,
            events: info.events,
            question: listed.question,
        }
    }
}

/// Columns in the order in which they are dropped when the question has too little room.
const DROPPED: [&str; 6] = ["program", "model", "calls", "cost", "tokens", "age"];

// A path of weights would push out every other column.
const MODEL_COLUMNS_MAX: usize = 28;

/// Columns that the question should have, else other columns go.
const QUESTION_COLUMNS_MIN: usize = 20;

fn table(now: Timestamp, listed: &[ListedRun], width: usize) -> Vec<StyledLine> {
    let column = |head: &str, side, cell: &dyn Fn(&ListedRun) -> String| {
        TableColumn::new(head, side, listed.iter().map(cell).collect())
    };
    let mut table = vec![
        column("run", ColumnSide::Left, &|listed| listed.short.clone()),
        column("age", ColumnSide::Right, &|listed| {
            units::age(now, listed.info.created_at)
        }),
        column("status", ColumnSide::Left, &|listed| listed.status.clone()),
        column("program", ColumnSide::Left, &|listed| {
            listed.info.program.clone()
        }),
        column("model", ColumnSide::Left, &|listed| {
            clip(&shown(&listed.info.model), MODEL_COLUMNS_MAX)
        }),
        column("tokens", ColumnSide::Right, &|listed| {
            units::count(listed.tokens)
        }),
        column("cost", ColumnSide::Right, &|listed| {
            units::cost(listed.money)
        }),
        column("calls", ColumnSide::Right, &|listed| {
            units::count(listed.info.model_calls)
        }),
    ];
    // The question is what people recognise a run by, so it keeps its room and others are dropped.
    let left = width.saturating_sub(QUESTION_COLUMNS_MIN);
    table::fit(&mut table, &DROPPED, left);
    rows(&table, listed, width)
}

fn rows(table: &[TableColumn], listed: &[ListedRun], width: usize) -> Vec<StyledLine> {
    let mut head = StyledLine::new();
    for column in table {
        head.push(LineStyle::Faint, column.padded(&column.head));
        head.push(LineStyle::Plain, GAP);
    }
    let mut lines = vec![head.with(LineStyle::Faint, "question").clipped(width)];
    for (row, listed) in listed.iter().enumerate() {
        let mut line = StyledLine::new();
        for column in table {
            let tone = match (column.head.as_str(), listed.status.as_str()) {
                ("status", "failed") => LineStyle::Bad,
                ("status", status) if !matches!(status, "ok" | "running") => LineStyle::Odd,
                _ => LineStyle::Plain,
            };
            let cell = column.cells.get(row).map_or("", String::as_str);
            line.push(tone, column.padded(cell));
            line.push(LineStyle::Plain, GAP);
        }
        let question = match &listed.question {
            Some(question) => one_line(question),
            None => "(shredded)".to_owned(),
        };
        lines.push(line.with(LineStyle::Plain, question).clipped(width));
    }
    lines
}

#[cfg(test)]
#[path = "runs_tests.rs"]
mod tests;
