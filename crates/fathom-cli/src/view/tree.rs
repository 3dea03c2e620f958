//! A run's episodes as a tree of lines, the same live and at rest.

use std::collections::{BTreeMap, BTreeSet};

use fathom_core::episode::result::EpisodeStatus;
use fathom_core::id::EpisodeId;
use fathom_core::journal::event::ReleaseReason;
use fathom_core::text::Text;
use fathom_core::unit::{Millis, Timestamp};
use fathom_host::view::run::{EpisodeState, EpisodeView, RunView};

use crate::terminal::masking::masked_so_far;
use crate::terminal::plain_text::{clip, clip_front, columns, one_line, pad, pad_front};
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::view::council;
use crate::view::units;

/// Narrower than this nothing can be read; a terminal that is narrower wraps.
pub(crate) const COLUMNS_MIN: usize = 40;

/// Episodes of a tree that is drawn while it works, or at its end.
pub(crate) const EPISODES_SHOWN_MAX: usize = 20;

/// Below this many columns the figures are written tightly.
pub(crate) const ROOMY_COLUMNS: usize = 60;

/// Bytes of an answer that are looked at for the words beside its episode; no terminal shows more of them in a line.
const WORDS_BYTES_MAX: usize = 4_096;

const LABEL_COLUMNS_MAX: usize = 28;

const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// Moment at which a tree is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TreeTime {
    /// While it works.
    Live {
        now: Timestamp,
        /// Counts the frames, for what turns.
        frame: usize,
    },
    /// As the journal has it.
    Rest,
}

/// Options for showing a tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TreeView {
    /// Columns there are.
    pub(crate) columns: usize,
    /// Most episodes to show.
    pub(crate) episodes_max: usize,
    pub(crate) moment: TreeTime,
}

/// The lines of a run: its question, then one line for each episode.
pub(crate) fn lines(story: &RunView, view: &TreeView) -> Vec<StyledLine> {
    let width = view.columns.max(COLUMNS_MIN);
    let Some(root) = story.root() else {
        return Vec::new();
    };
    let chosen = chosen(story, view.episodes_max);
    let rows = rows(story, &chosen, view.moment);
    let left = rows
        .iter()
        .map(|row| columns(&row.left()))
        .max()
        .unwrap_or(0);
    let left = left.min(LABEL_COLUMNS_MAX.min(width / 3));
    let mut lines = vec![question(&root.started.goal, width)];
    lines.extend(rows.iter().map(|row| row.line(left, width)));
    let hidden = story.chapters.len().saturating_sub(chosen.len());
    if hidden > 0 {
        let more = format!("… and {} more", units::count(hidden as u64));
        lines.push(StyledLine::new().with(LineStyle::Faint, more));
    }
    lines
}

fn question(goal: &Text, width: usize) -> StyledLine {
    if goal.is_closed() {
        return StyledLine::new().with(LineStyle::Faint, "(the content was shredded)");
    }
    StyledLine::new().with(LineStyle::Strong, clip(&one_line(goal.as_str()), width))
}

/// The episodes to show: those at work first, then the rest, in the order of the tree. What is shown always
/// hangs on something shown, because an episode outlives its children.
fn chosen(story: &RunView, max: usize) -> BTreeSet<&EpisodeId> {
    let is_over = |chapter: &EpisodeView| matches!(chapter.state, EpisodeState::Finished(_));
    let at_work = story
        .chapters
        .iter()
        .filter(|(id, c)| id.is_root() || !is_over(c));
    let over = story
        .chapters
        .iter()
        .filter(|(id, c)| !id.is_root() && is_over(c));
    at_work
        .chain(over)
        .map(|(id, _)| id)
        .take(max.max(1))
        .collect()
}

struct TreeRow {
    branches: String,
    label: String,
    state: RowText,
    words: String,
    tokens: u64,
    elapsed: Millis,
}

/// State of an episode, as text.
struct RowText {
    tone: LineStyle,
    text: String,
}

fn rows(story: &RunView, chosen: &BTreeSet<&EpisodeId>, moment: TreeTime) -> Vec<TreeRow> {
    let mut last: BTreeMap<Option<EpisodeId>, &EpisodeId> = BTreeMap::new();
    for id in chosen {
        last.insert(id.parent(), id);
    }
    let is_last = |id: &EpisodeId| last.get(&id.parent()).is_some_and(|last| *last == id);
    chosen
        .iter()
        .filter_map(|id| Some((*id, story.chapters.get(*id)?)))
        .map(|(id, chapter)| TreeRow {
            branches: branches(id, &is_last),
            label: label(chapter),
            state: state(chapter, moment),
            words: words(id, chapter),
            tokens: chapter.spent.tokens,
            elapsed: elapsed(chapter, moment),
        })
        .collect()
}

/// A seat of a council has its own name, every other episode that of its kind.
fn label(chapter: &EpisodeView) -> String {
    let seat = council::path(chapter);
    let seat = seat.as_deref().and_then(|path| path.rsplit('/').next());
    seat.map_or_else(|| one_line(chapter.label()), str::to_owned)
}

fn branches(id: &EpisodeId, is_last: &impl Fn(&EpisodeId) -> bool) -> String {
    if id.is_root() {
        return String::new();
    }
    let mut parts = vec![if is_last(id) { "└─ " } else { "├─ " }];
    let mut above = id.parent();
    while let Some(id) = above.filter(|id| !id.is_root()) {
        parts.push(if is_last(&id) { "   " } else { "│  " });
        above = id.parent();
    }
    parts.into_iter().rev().collect()
}

fn state(chapter: &EpisodeView, moment: TreeTime) -> RowText {
    let said = |tone, text: &str| RowText {
        tone,
        text: text.to_owned(),
    };
    let busy = |text: String| match moment {
        TreeTime::Live { frame, .. } => RowText {
            tone: LineStyle::Busy,
            text: format!("{} {text}", SPINNER[frame % SPINNER.len()]),
        },
        TreeTime::Rest => RowText {
            tone: LineStyle::Odd,
            text,
        },
    };
    match &chapter.state {
        EpisodeState::Working => busy("working".to_owned()),
        EpisodeState::Calling { calls } => busy(format!("calling {calls}")),
        EpisodeState::Retrying { at, attempt, kind } => {
            busy(retry(*at, *attempt, &kind.to_string(), moment))
        }
        EpisodeState::Computing { cell } => busy(format!("cell {cell}")),
        EpisodeState::Children { children: 1 } => busy("1 child".to_owned()),
        EpisodeState::Children { children } => busy(format!("{children} children")),
        EpisodeState::AwaitingApproval
        | EpisodeState::Released(ReleaseReason::AwaitingApproval) => {
            said(LineStyle::Odd, "awaiting approval")
        }
        EpisodeState::Outage { failure } => RowText {
            tone: LineStyle::Odd,
            text: format!("model unreachable: {}", one_line(failure)),
        },
        EpisodeState::Released(ReleaseReason::Outage) => said(LineStyle::Odd, "model unreachable"),
        EpisodeState::Released(ReleaseReason::Interrupted) => said(LineStyle::Odd, "interrupted"),
        EpisodeState::Finished(status) => finished(chapter, *status),
    }
}

pub(crate) fn retry(at: Timestamp, attempt: u16, kind: &str, moment: TreeTime) -> String {
    match moment {
        TreeTime::Live { now, .. } if at > now => {
            format!("retry {attempt} in {} ({kind})", units::span(at.since(now)))
        }
        _ => format!("retry {attempt} ({kind})"),
    }
}

fn finished(chapter: &EpisodeView, status: EpisodeStatus) -> RowText {
    if let Some(seat) = council::seat_report(chapter) {
        let (tone, text) = council::said(&seat);
        return RowText { tone, text };
    }
    let why = || {
        let result = chapter.result.as_ref();
        result.map_or_else(String::new, |result| format!(": {}", result.stop_reason))
    };
    let (tone, text) = match status {
        EpisodeStatus::Ok => (LineStyle::Good, "ok".to_owned()),
        EpisodeStatus::NeedsReview => (LineStyle::Odd, format!("needs review{}", why())),
        EpisodeStatus::Failed => (LineStyle::Bad, format!("failed{}", why())),
    };
    RowText {
        tone,
        text: one_line(&text),
    }
}

/// Text beside the state: the model's output so far, or a child's result.
fn words(id: &EpisodeId, chapter: &EpisodeView) -> String {
    match (&chapter.state, &chapter.result) {
        (EpisodeState::Calling { .. } | EpisodeState::Working, _) => {
            one_line(&masked_so_far(&chapter.last_words))
        }
        (EpisodeState::Finished(_), Some(result)) if !id.is_root() => {
            if let Some(seat) = council::seat_report(chapter) {
                return council::words(&seat);
            }
            let answer = result.answer.as_ref().map_or("", Text::as_str);
            one_line(&answer[..answer.floor_char_boundary(WORDS_BYTES_MAX)])
        }
        _ => String::new(),
    }
}

fn elapsed(chapter: &EpisodeView, moment: TreeTime) -> Millis {
    let until = match (&chapter.state, moment) {
        (EpisodeState::Finished(_) | EpisodeState::Released(_), _) | (_, TreeTime::Rest) => {
            chapter.last
        }
        (_, TreeTime::Live { now, .. }) => now,
    };
    until.since(chapter.began)
}

/// Usage of an episode, at the right of its line.
pub(crate) fn figures(tokens: u64, elapsed: Millis, width: usize) -> String {
    let tokens = units::count(tokens);
    let elapsed = units::span(elapsed);
    if width < ROOMY_COLUMNS {
        format!("{} {}", pad_front(&tokens, 4), pad_front(&elapsed, 5))
    } else {
        format!("{} tok {}", pad_front(&tokens, 4), pad_front(&elapsed, 8))
    }
}

impl TreeRow {
    fn left(&self) -> String {
        format!("{}{}", self.branches, self.label)
    }

    fn line(&self, left: usize, width: usize) -> StyledLine {
        let right = figures(self.tokens, self.elapsed, width);
        let middle = width.saturating_sub(left + columns(&right) + 4);
        let label = left.saturating_sub(columns(&self.branches));
        let state = clip(&self.state.text, middle);
        let words = self.beside(middle.saturating_sub(columns(&state)));
        let gap = middle.saturating_sub(columns(&state) + columns(&words));
        StyledLine::new()
            .with(LineStyle::Faint, self.branches.clone())
            .with(LineStyle::Plain, pad(&clip(&self.label, label), label))
            .with(LineStyle::Plain, "  ")
            .with(self.state.tone, state)
            .with(LineStyle::Faint, words)
            .with(LineStyle::Plain, " ".repeat(gap + 2))
            .with(LineStyle::Faint, right)
    }

    /// The words in what room is left beside the state; less than a few columns are not worth it.
    fn beside(&self, room: usize) -> String {
        const ROOM_MIN: usize = 8;
        if self.words.is_empty() || room < ROOM_MIN {
            return String::new();
        }
        match self.state.tone {
            LineStyle::Busy => format!("  {}", clip_front(&self.words, room - 2)),
            _ => format!("  {}", clip(&self.words, room - 2)),
        }
    }
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
