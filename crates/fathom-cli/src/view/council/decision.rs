//! Result of a council's votes, in words.

use fathom_core::episode::result::EpisodeStatus;
use fathom_host::view::run::EpisodeView;
use fathom_programs::council::complexity::ComplexitySignal;
use fathom_programs::council::{ChiefsOnlyResult, CouncilReport, SeatReport};

use super::seats::{paragraphs, percent};
use super::tone;
use crate::terminal::plain_text::{columns, one_line, pad, wrap};
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::view::units::{self, many};

/// Columns of what a line is about.
const HEAD_COLUMNS: usize = 10;

/// Longer lines are hard to read.
const TEXT_COLUMNS_MAX: usize = 100;

const GAP: &str = "   ";

/// Decision, reasons, what the question was like, and what would have come of it without sub-chiefs.
pub(super) fn lines(root: &EpisodeView, report: &CouncilReport, width: usize) -> Vec<StyledLine> {
    let mut lines = flow("decision", decided(report), width);
    if report.partial {
        let silent = format!("no vote from {}", silent(&report.votes).join(", "));
        lines.extend(flow("partial", vec![(LineStyle::Odd, silent)], width));
    }
    let result = root.result.as_ref();
    if let Some(result) = result.filter(|result| result.status != EpisodeStatus::Ok) {
        let why = one_line(&result.stop_reason.to_string());
        lines.extend(flow("stopped", vec![(LineStyle::Odd, why)], width));
    }
    for (index, paragraph) in paragraphs(&report.reasoning).into_iter().enumerate() {
        let head = if index == 0 { "reasons" } else { "" };
        lines.extend(flow(head, vec![(LineStyle::Plain, paragraph)], width));
    }
    let question = vec![(LineStyle::Plain, complexity(report))];
    lines.extend(flow("question", question, width));
    if let Some(alone) = &report.alone {
        let compared = vec![(LineStyle::Plain, compared(alone))];
        lines.extend(flow("compared", compared, width));
    }
    lines
}

/// The parts of the decision.
fn decided(report: &CouncilReport) -> Vec<(LineStyle, String)> {
    let Some(vote) = report.vote else {
        return vec![(LineStyle::Bad, "none: no votes".to_owned())];
    };
    let mut parts = vec![(tone(vote), vote.word().to_owned())];
    if report.tied {
        parts.push((LineStyle::Odd, "tied".to_owned()));
    } else {
        let confidence = format!("confidence {}", percent(report.confidence));
        let agreement = format!("agreement {}", percent(report.agreement));
        parts.push((LineStyle::Plain, confidence));
        parts.push((LineStyle::Plain, agreement));
    }
    if !report.dissent.is_empty() {
        let dissent = one_line(&report.dissent.join(", "));
        parts.push((LineStyle::Odd, format!("dissent: {dissent}")));
    }
    parts
}

/// Paths of all who have no vote.
fn silent(chiefs: &[SeatReport]) -> Vec<String> {
    fn gather(above: &str, seats: &[SeatReport], found: &mut Vec<String>) {
        for seat in seats {
            let path = format!("{above}{}", one_line(&seat.seat));
            if seat.cast.is_none() {
                found.push(path.clone());
            }
            gather(&format!("{path}/"), &seat.children, found);
        }
    }
    let mut found = Vec::new();
    gather("", chiefs, &mut found);
    found
}

/// Reason why sub-chiefs were asked or not.
fn complexity(report: &CouncilReport) -> String {
    let asked = match u64::from(report.spawns) {
        0 => "each chief answered directly".to_owned(),
        spawns => format!("asked {}", many(spawns, "sub-chief", "sub-chiefs")),
    };
    let assessment = &report.complexity;
    let signals = assessment.reasons.iter().map(signal).collect::<Vec<_>>();
    let signals = match signals.len() {
        0 => String::new(),
        n => format!(
            "{}: {}; ",
            many(n as u64, "signal", "signals"),
            signals.join(", ")
        ),
    };
    let word = if assessment.complex {
        "complex"
    } else {
        "simple"
    };
    one_line(&format!("{word}: {signals}{asked}"))
}

fn signal(reason: &ComplexitySignal) -> String {
    match reason {
        ComplexitySignal::Length { tokens } => format!("long ({tokens} tokens)"),
        ComplexitySignal::Uncertainty { phrases } => format!("uncertain ({})", phrases.join(", ")),
        ComplexitySignal::Domains { domains } => format!("broad ({})", domains.join(", ")),
        ComplexitySignal::Factors { factors } => {
            let number = factors.len() as u64;
            let number = many(number, "factor", "factors");
            format!("{number} ({})", factors.join(", "))
        }
        ComplexitySignal::Learned { log_odds_milli } => {
            let whole = log_odds_milli.unsigned_abs();
            let sign = if *log_odds_milli < 0 { '-' } else { '+' };
            let (ones, rest) = (whole / 1000, whole % 1000);
            format!("learned from past councils ({sign}{ones}.{rest:03})")
        }
    }
}

fn compared(alone: &ChiefsOnlyResult) -> String {
    let (vote, percent) = (alone.vote, percent(alone.confidence));
    let elapsed = units::span(alone.elapsed);
    format!("without sub-chiefs: {vote} {percent}, {elapsed}")
}

/// Parts side by side where they fit, else below each other; one that is wider than a line is broken.
fn flow(head: &str, parts: Vec<(LineStyle, String)>, width: usize) -> Vec<StyledLine> {
    let width = width.min(TEXT_COLUMNS_MAX);
    let room = width.saturating_sub(HEAD_COLUMNS);
    let begun = |head: &str| StyledLine::new().with(LineStyle::Faint, pad(head, HEAD_COLUMNS));
    let mut lines = Vec::new();
    let mut line = begun(head);
    for (index, (tone, part)) in parts.into_iter().enumerate() {
        if index > 0 && line.columns() + GAP.len() + columns(&part) <= width {
            line.push(LineStyle::Plain, GAP);
            line.push(tone, part);
            continue;
        }
        for (at, piece) in wrap(&part, room).into_iter().enumerate() {
            if index + at > 0 {
                lines.push(std::mem::replace(&mut line, begun("")));
            }
            line.push(tone, piece);
        }
    }
    lines.push(line);
    lines
}
