//! Progress of a run on stderr: drawn in place on a terminal, plain lines elsewhere.

use std::io::Stderr;

use fathom_core::episode::result::NextAction;
use fathom_core::id::RunId;
use fathom_core::unit::Timestamp;
use fathom_host::view::run::RunView;

use crate::run::embedded_models;
use crate::settings::Verbosity;
use crate::settings::models::shown;
use crate::terminal::live_area::LiveArea;
use crate::terminal::output;
use crate::terminal::plain_text::{clip, one_line};
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::view::budget;
use crate::view::change_lines::ChangePrinter;
use crate::view::council::{self, SeatDetail};
use crate::view::phases;
use crate::view::stages;
use crate::view::tree::{self, COLUMNS_MIN, EPISODES_SHOWN_MAX, TreeTime, TreeView};

/// Rows of a frame that are not episodes: question, budget, omissions, and the cursor's.
const OTHER_ROWS: usize = 5;

/// A run to be shown.
pub(crate) struct ShownState<'a> {
    pub(crate) run: RunId,
    /// Its id, as short as it can be.
    pub(crate) short: &'a str,
    pub(crate) story: &'a RunView,
}

/// Destination of progress.
pub(crate) enum ProgressView {
    /// Nowhere.
    Silent,
    /// To a file or a pipe.
    Plain(std::collections::BTreeMap<RunId, ChangePrinter>),
    /// To a terminal.
    Live(Box<LiveView>),
}

/// Display that is redrawn in place.
pub(crate) struct LiveView {
    painter: LiveArea<Stderr>,
    frame: usize,
}

impl ProgressView {
    /// The way that fits stderr and the user's wish.
    pub(crate) fn new(loudness: Verbosity) -> Self {
        if loudness == Verbosity::Quiet {
            return Self::Silent;
        }
        match output::painter() {
            Some(painter) => Self::Live(Box::new(LiveView { painter, frame: 0 })),
            None => Self::Plain(std::collections::BTreeMap::new()),
        }
    }

    /// Shows how far the runs are.
    pub(crate) fn update(&mut self, runs: &[ShownState<'_>], now: Timestamp) {
        match self {
            Self::Silent => {}
            Self::Plain(changes) => {
                for shown in runs {
                    let changes = changes.entry(shown.run).or_default();
                    let lines = changes.since_last(shown.short, shown.story, now);
                    let lines: Vec<StyledLine> = lines.into_iter().map(StyledLine::from).collect();
                    output::say(&lines);
                }
            }
            Self::Live(live) => live.draw(runs, now),
        }
    }

    /// Says something that stays.
    pub(crate) fn note(&mut self, lines: &[StyledLine]) {
        match self {
            Self::Silent => {}
            Self::Plain(_) => output::say(lines),
            Self::Live(live) => {
                let (width, _) = size();
                live.painter.print(lines, width);
            }
        }
    }

    /// Puts the last picture in place of the moving one.
    pub(crate) fn finish(&mut self, runs: &[ShownState<'_>], now: Timestamp, detail: SeatDetail) {
        match self {
            Self::Silent => {}
            Self::Plain(_) => self.update(runs, now),
            Self::Live(live) => live.painter.end(size().0),
        }
        if !matches!(self, Self::Silent) {
            for run in runs {
                output::say(&still(run, size().0, detail));
            }
        }
    }
}

fn size() -> (usize, usize) {
    output::stderr_size().unwrap_or((80, 24))
}

impl LiveView {
    fn draw(&mut self, runs: &[ShownState<'_>], now: Timestamp) {
        let (width, height) = size();
        self.frame = self.frame.wrapping_add(1);
        let moment = TreeTime::Live {
            now,
            frame: self.frame,
        };
        let lines = frame(runs, width, height, moment);
        self.painter.draw(&lines, width);
    }
}

/// One frame, never higher than the terminal: what scrolls off its top cannot be drawn again.
fn frame(
    runs: &[ShownState<'_>],
    width: usize,
    height: usize,
    moment: TreeTime,
) -> Vec<StyledLine> {
    // The last column stays free: some terminals wrap as soon as it is written.
    let columns = width.max(COLUMNS_MIN + 1) - 1;
    let room = height.saturating_sub(OTHER_ROWS);
    let view = TreeView {
        columns,
        episodes_max: EPISODES_SHOWN_MAX.min(room).max(1),
        moment,
    };
    let mut lines = Vec::new();
    for shown in runs {
        lines.extend(tree::lines(shown.story, &view));
        if let Some(used) = budget::of(shown.story, moment) {
            lines.push(budget::bars(&used, columns));
        }
    }
    lines.truncate(height.saturating_sub(1).max(1));
    lines
}

/// The last picture of a run.
fn still(shown_run: &ShownState<'_>, width: usize, detail: SeatDetail) -> Vec<StyledLine> {
    let width = width.max(COLUMNS_MIN);
    let mut lines = picture(shown_run.story, width, EPISODES_SHOWN_MAX, detail);
    // The blocks were shown as they were said.
    lines.extend(stages::summary(shown_run.story, width));
    lines.push(StyledLine::new());
    lines.extend(asked_of_people(shown_run.story, width));
    if let Some(used) = budget::of(shown_run.story, TreeTime::Rest) {
        lines.extend(budget::words(&used, width));
    }
    lines.extend(embedded_models::used(shown_run.story).map(|line| line.clipped(width)));
    let model = shown_run.story.root().map(|root| shown(root.model()));
    lines.push(
        StyledLine::new()
            .with(LineStyle::Faint, "record  ")
            .with(LineStyle::Plain, format!("fathom show {}", shown_run.short))
            .with(LineStyle::Faint, "        model ")
            .with(LineStyle::Plain, model.unwrap_or_default())
            .clipped(width),
    );
    lines
}

/// A run at rest: what a council decided, or the episodes of any other run and of a council still at it.
pub(crate) fn picture(
    story: &RunView,
    width: usize,
    episodes_max: usize,
    detail: SeatDetail,
) -> Vec<StyledLine> {
    let view = TreeView {
        columns: width,
        episodes_max,
        moment: TreeTime::Rest,
    };
    let mut lines =
        council::lines(story, width, detail).unwrap_or_else(|| tree::lines(story, &view));
    lines.extend(phases::lines(story, width));
    lines
}

/// Requests to a person in the run's tickets.
pub(crate) fn asked_of_people(story: &RunView, width: usize) -> Vec<StyledLine> {
    const HEAD: &str = "review  ";
    let result = story.root().and_then(|root| root.result.as_ref());
    let actions = result.map(|result| result.next_actions.as_slice());
    let tickets = actions
        .unwrap_or_default()
        .iter()
        .filter_map(|action| match action {
            NextAction::Handoff(ticket) => Some(ticket.asked.as_str()),
            NextAction::Task(_) => None,
        });
    tickets
        .map(|asked| {
            let asked = clip(&one_line(asked), width.saturating_sub(HEAD.len()));
            StyledLine::new()
                .with(LineStyle::Faint, HEAD)
                .with(LineStyle::Odd, asked)
        })
        .collect()
}

#[cfg(test)]
#[path = "progress_tests.rs"]
mod tests;
