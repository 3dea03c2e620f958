//! Decision of a council, for people and programs: the votes, the reasons, and the result.

mod decision;
mod seats;

use fathom_core::text::Text;
use fathom_host::view::run::{EpisodeView, RunView};
use fathom_programs::council::{self, CouncilReport, SeatReport, Vote};

use crate::settings::Verbosity;
use crate::terminal::plain_text::{clip, columns, one_line};
use crate::terminal::styled_line::{LineStyle, StyledLine};

pub(crate) use seats::{said, words};

/// Amount of reasoning shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SeatDetail {
    /// One line for each seat.
    Short,
    /// Every seat's reasoning in full below its line.
    Full,
}

impl From<Verbosity> for SeatDetail {
    fn from(loudness: Verbosity) -> Self {
        match loudness {
            Verbosity::Quiet | Verbosity::Usual => Self::Short,
            Verbosity::Verbose => Self::Full,
        }
    }
}

/// True if the run is a council's.
pub(crate) fn is_council(story: &RunView) -> bool {
    story
        .root()
        .is_some_and(|root| root.started.program.name == council::NAME)
}

/// Report of a council; none while it is running, when the content is gone, and for other programs.
pub(crate) fn report(story: &RunView) -> Option<CouncilReport> {
    if !is_council(story) {
        return None;
    }
    read(story.root()?)
}

/// The path of the seat that an episode sits on, as `IT/security`.
pub(crate) fn path(chapter: &EpisodeView) -> Option<String> {
    council::seat_of(&chapter.started.program).map(|path| one_line(&path))
}

/// Vote of a finished episode's seat.
pub(crate) fn seat_report(chapter: &EpisodeView) -> Option<SeatReport> {
    path(chapter)?;
    read(chapter)
}

fn read<T: serde::de::DeserializeOwned>(chapter: &EpisodeView) -> Option<T> {
    let report = chapter.result.as_ref()?.report.as_ref();
    serde_json::from_str(report.map(Text::as_str)?).ok()
}

/// Style of a vote. The word carries the meaning; the colour only helps.
pub(crate) const fn tone(vote: Vote) -> LineStyle {
    match vote {
        Vote::Approve => LineStyle::Good,
        Vote::Reject => LineStyle::Bad,
        Vote::Abstain => LineStyle::Odd,
    }
}

/// The picture of a finished council: question, seats and decision.
pub(crate) fn lines(story: &RunView, width: usize, detail: SeatDetail) -> Option<Vec<StyledLine>> {
    let report = report(story)?;
    let root = story.root()?;
    let mut lines = vec![head(root, &report, width)];
    lines.extend(seats::lines(&report.votes, width, detail));
    lines.push(StyledLine::new());
    lines.extend(decision::lines(root, &report, width));
    Some(lines)
}

fn head(root: &EpisodeView, report: &CouncilReport, width: usize) -> StyledLine {
    const HEAD: &str = "council  ";
    let depth = format!("   depth {}", report.depth);
    let left = width.saturating_sub(HEAD.len() + columns(&depth));
    let question = clip(&one_line(root.started.goal.as_str()), left);
    StyledLine::new()
        .with(LineStyle::Faint, HEAD)
        .with(LineStyle::Strong, question)
        .with(LineStyle::Faint, depth)
}

#[cfg(test)]
#[path = "council_tests.rs"]
mod tests;
