//! The seats of a council as a tree, one line each.

use fathom_core::unit::PerMille;
use fathom_programs::council::{SampledVotes, SeatFailure, SeatReport, Vote, tally_seats};

use super::{SeatDetail, tone};
use crate::terminal::plain_text::{clip, clip_front, columns, one_line, pad, pad_front, wrap};
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::view::tree::{self, ROOMY_COLUMNS};
use crate::view::units::many;

/// Most columns of branches and name, where words stand beside them.
const LEFT_COLUMNS_MAX: usize = 28;

/// Most columns of a source.
const SOURCE_COLUMNS_MAX: usize = 28;

/// Fewer columns are too few for words; a voter's figures are left out for them.
const WORDS_COLUMNS_MIN: usize = 16;

/// Columns of vote and confidence, with the gaps before and between.
const VOTE_COLUMNS: usize = 16;

const LEFT_OUT: &str = "(left out of the vote)";

/// A seat and its place in the tree.
struct SeatRow<'a> {
    depth: usize,
    branches: String,
    /// Prefix of the lines of its reasoning, which continues the branches.
    beneath: String,
    seat: &'a SeatReport,
}

/// The seats with all below them.
pub(super) fn lines(seats: &[SeatReport], width: usize, detail: SeatDetail) -> Vec<StyledLine> {
    let mut rows = Vec::new();
    flatten(seats, "", 0, &mut rows);
    let depths = rows.iter().map(|row| row.depth + 1).max().unwrap_or(0);
    let levels: Vec<SeatLevel> = (0..depths)
        .map(|depth| SeatLevel::of(&rows, depth, width))
        .collect();
    let mut lines = Vec::new();
    for row in &rows {
        if let Some(level) = levels.get(row.depth) {
            lines.push(row.line(level, width, detail));
            lines.extend(row.below(width, detail));
        }
    }
    lines
}

fn flatten<'a>(seats: &'a [SeatReport], above: &str, depth: usize, rows: &mut Vec<SeatRow<'a>>) {
    for (index, seat) in seats.iter().enumerate() {
        let is_last = index + 1 == seats.len();
        let inner = format!("{above}{}", if is_last { "   " } else { "│  " });
        let own = if seat.children.is_empty() {
            "   "
        } else {
            "│  "
        };
        rows.push(SeatRow {
            depth,
            branches: format!("{above}{}", if is_last { "└─ " } else { "├─ " }),
            beneath: format!("{inner}{own}"),
            seat,
        });
        flatten(&seat.children, &inner, depth + 1, rows);
    }
}

/// Columns that the seats of one depth share.
struct SeatLevel {
    /// Branches and name.
    left: usize,
    /// Source with the gap before it; nothing where no seat names one.
    source: usize,
    /// Columns of the figures with the gap before them; 0 if they do not fit.
    figures: usize,
}

impl SeatLevel {
    fn of(rows: &[SeatRow<'_>], depth: usize, width: usize) -> Self {
        let rows = || rows.iter().filter(|row| row.depth == depth);
        let left = rows().map(SeatRow::left).max().unwrap_or(0);
        let figures = columns(&tree::figures(0, fathom_core::unit::Millis(0), width)) + 2;
        if width < ROOMY_COLUMNS {
            let figures = if left + VOTE_COLUMNS + figures <= width {
                figures
            } else {
                0
            };
            let left = left.min(width.saturating_sub(VOTE_COLUMNS + figures));
            return Self {
                left,
                source: 0,
                figures,
            };
        }
        let left = left.min(LEFT_COLUMNS_MAX.min(width / 3));
        let source = rows().map(|row| columns(&place(row.seat))).max();
        let source = match source.unwrap_or(0) {
            0 => 0,
            taken => taken.min(SOURCE_COLUMNS_MAX.min(width / 4)) + 2,
        };
        let taken = left + VOTE_COLUMNS + 2 + source + figures;
        let fits = taken + WORDS_COLUMNS_MIN <= width;
        Self {
            left,
            source,
            figures: if fits { figures } else { 0 },
        }
    }
}

impl SeatRow<'_> {
    fn name(&self) -> String {
        one_line(&self.seat.seat)
    }

    fn left(&self) -> usize {
        columns(&self.branches) + columns(&self.name())
    }

    fn line(&self, level: &SeatLevel, width: usize, detail: SeatDetail) -> StyledLine {
        let name = level.left.saturating_sub(columns(&self.branches));
        let mut line = StyledLine::new()
            .with(LineStyle::Faint, self.branches.clone())
            .with(LineStyle::Plain, pad(&clip(&self.name(), name), name))
            .with(LineStyle::Plain, "  ");
        match &self.seat.cast {
            Some(cast) => {
                let percent = percent(cast.confidence);
                line.push(tone(cast.vote), pad(cast.vote.word(), 7));
                line.push(LineStyle::Plain, format!("  {}", pad_front(&percent, 5)));
                if width >= ROOMY_COLUMNS {
                    let end = width.saturating_sub(level.figures);
                    self.push_words(&mut line, level, end, detail);
                }
            }
            None => self.push_failure(&mut line, width, detail),
        }
        let figures = tree::figures(self.seat.tokens, self.seat.elapsed, width);
        let gap = width.saturating_sub(line.columns() + columns(&figures));
        // A failure may have taken their place.
        if level.figures > 0 && gap > 1 && self.seat.episode.is_some() {
            line.push(LineStyle::Plain, " ".repeat(gap));
            line.push(LineStyle::Faint, figures);
        }
        line
    }

    /// Adds the text between the vote and the figures: words, then the source at the right.
    fn push_words(&self, line: &mut StyledLine, level: &SeatLevel, end: usize, detail: SeatDetail) {
        let (words, source) = match detail {
            SeatDetail::Short => (words(self.seat), place(self.seat)),
            SeatDetail::Full => (facts(self.seat), String::new()),
        };
        let taken = if source.is_empty() { 0 } else { level.source };
        let room = end.saturating_sub(line.columns() + 2 + taken);
        line.push(
            LineStyle::Plain,
            format!("  {}", pad(&clip(&words, room), room)),
        );
        if !source.is_empty() {
            let room = level.source.saturating_sub(2);
            let source = pad(&clip_front(&source, room), room);
            line.push(LineStyle::Faint, format!("  {source}"));
        }
    }

    /// Marks a seat without a vote, with the reason if there is room.
    fn push_failure(&self, line: &mut StyledLine, width: usize, detail: SeatDetail) {
        let (word, cause) = failed(self.seat);
        line.push(LineStyle::Bad, word);
        if width < ROOMY_COLUMNS {
            return;
        }
        if detail == SeatDetail::Short {
            let room = width.saturating_sub(line.columns() + columns(LEFT_OUT) + 3);
            line.push(LineStyle::Plain, format!(": {}", clip(&cause, room)));
        }
        line.push(LineStyle::Plain, format!(" {LEFT_OUT}"));
    }

    /// Lines below the seat: on a narrow terminal the parts without room beside the vote, and all of the text if
    /// requested.
    fn below(&self, width: usize, detail: SeatDetail) -> Vec<StyledLine> {
        let room = width.saturating_sub(columns(&self.beneath));
        let is_narrow = width < ROOMY_COLUMNS;
        let mut texts = match (is_narrow, detail) {
            (true, SeatDetail::Short) => self.short(room),
            (true, SeatDetail::Full) => vec![clip(&facts(self.seat), room)],
            (false, SeatDetail::Short | SeatDetail::Full) => Vec::new(),
        };
        if detail == SeatDetail::Full {
            texts.extend(self.whole().iter().flat_map(|text| wrap(text, room)));
        }
        if is_narrow && self.seat.cast.is_none() {
            texts.push(LEFT_OUT.to_owned());
        }
        texts
            .into_iter()
            .filter(|text| !text.is_empty())
            .map(|text| {
                StyledLine::new()
                    .with(LineStyle::Faint, self.beneath.clone())
                    .with(LineStyle::Plain, text)
            })
            .collect()
    }

    /// Parts without room beside the vote: words and source, or the reason for the missing vote.
    fn short(&self, room: usize) -> Vec<String> {
        if self.seat.cast.is_none() {
            return wrap(&failed(self.seat).1, room);
        }
        let source = clip_front(&place(self.seat), room);
        vec![clip(&words(self.seat), room), source]
    }

    /// Everything there is to say of a seat beyond its line.
    fn whole(&self) -> Vec<String> {
        let seat = self.seat;
        let mut texts = match &seat.cast {
            Some(cast) => paragraphs(&cast.reasoning),
            None => vec![failed(seat).1],
        };
        let place = place(seat);
        if !place.is_empty() {
            texts.push(format!("source: {place}"));
        }
        if let Some(reused) = &seat.reused {
            texts.push(format!("answered in run {}", reused.run));
        }
        if let Some(alone) = &seat.alone {
            let (vote, percent) = (alone.vote, percent(alone.confidence));
            let why = one_line(&alone.reasoning);
            texts.push(format!("without sub-chiefs: {vote} {percent}: {why}"));
        }
        texts
    }
}

/// The lines of a text that say something, each safe to show.
pub(super) fn paragraphs(text: &str) -> Vec<String> {
    let lines = text.lines().map(one_line);
    lines.filter(|line| !line.is_empty()).collect()
}

/// `79 %`.
pub(super) fn percent(share: PerMille) -> String {
    format!("{} %", share.percent())
}

/// The vote with its confidence, or that there is none.
pub(crate) fn said(seat: &SeatReport) -> (LineStyle, String) {
    if let Some(cast) = &seat.cast {
        let (vote, percent) = (cast.vote, percent(cast.confidence));
        (tone(vote), format!("{vote} {percent}"))
    } else {
        let (word, cause) = failed(seat);
        (LineStyle::Bad, format!("{word}: {cause}"))
    }
}

/// Facts about a vote, then its reasons; a seat that asked others shows the facts only.
pub(crate) fn words(seat: &SeatReport) -> String {
    let facts = facts(seat);
    let why = match &seat.cast {
        Some(cast) if seat.children.is_empty() => one_line(&cast.reasoning),
        _ => String::new(),
    };
    match (facts.is_empty(), why.is_empty()) {
        (_, true) => facts,
        (true, false) => why,
        (false, false) => format!("{facts}: {why}"),
    }
}

/// Facts about a vote beside its reasons: the seats it asked, the source of its confidence, its reuse.
fn facts(seat: &SeatReport) -> String {
    let mut facts = Vec::new();
    facts.extend(asked(seat));
    facts.extend(drawn(seat));
    if let Some(reused) = &seat.reused {
        facts.push(if reused.similarity == PerMille::ALL {
            "reused".to_owned()
        } else {
            format!("reused, {} similar", percent(reused.similarity))
        });
    }
    facts.join(", ")
}

fn asked(seat: &SeatReport) -> Option<String> {
    let all = seat.children.len() as u64;
    let voted = seat.children.iter().filter(|child| child.cast.is_some());
    let voted = voted.count() as u64;
    let who = match (voted, all) {
        (_, 0) => return None,
        (voted, all) if voted == all => many(all, "sub-chief", "sub-chiefs"),
        (voted, all) => format!("{voted} of {}", many(all, "sub-chief", "sub-chiefs")),
    };
    let tally = tally_seats(&seat.children);
    Some(match (tally, seat.agreement) {
        (Some(tally), Some(_)) if tally.tied => format!("{who}, tied"),
        (Some(_), Some(agreement)) if voted > 1 => {
            format!("{who}, {} agree", percent(agreement))
        }
        _ => who,
    })
}

/// `4 of 5`: how many of the votes drawn for a seat are the vote it has.
fn drawn(seat: &SeatReport) -> Option<String> {
    let SampledVotes {
        approve,
        reject,
        abstain,
        failed,
    } = seat.samples?;
    let own = match seat.cast.as_ref()?.vote {
        Vote::Approve => approve,
        Vote::Reject => reject,
        Vote::Abstain => abstain,
    };
    let all = u16::from(approve) + u16::from(reject) + u16::from(abstain);
    let failed = match failed {
        0 => String::new(),
        failed => format!(", {failed} failed"),
    };
    Some(format!("{own} of {all}{failed}"))
}

/// The place that a voter names as its ground, as `docs/auth.md:41`.
fn place(seat: &SeatReport) -> String {
    let named = seat.cast.as_ref().and_then(|cast| cast.source.as_ref());
    named.map_or_else(String::new, |named| {
        one_line(&format!("{}:{}", named.source, named.line))
    })
}

/// That a seat has no vote, and why.
fn failed(seat: &SeatReport) -> (&'static str, String) {
    match &seat.failure {
        Some(SeatFailure::Refused { message }) => ("refused", one_line(message)),
        Some(failure) => ("failed", one_line(&failure.to_string())),
        None => ("failed", "no vote".to_owned()),
    }
}
