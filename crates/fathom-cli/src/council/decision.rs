//! What the votes of a council come to, in words.

use fathom_core::outcome::Status;
use fathom_core::programs::council::complexity::Reason;
use fathom_core::programs::council::{Alone, Report, SeatReport};
use fathom_host::story::Chapter;

use super::seats::{paragraphs, percent};
use super::tone;
use crate::figures::{self, many};
use crate::line::{Line, Tone};
use crate::plain_text::{columns, one_line, pad, wrap};

/// Columns of what a line is about.
const HEAD_COLUMNS: usize = 10;

/// Longer lines are hard to read.
const TEXT_COLUMNS_MAX: usize = 100;

const GAP: &str = "   ";

/// Decision, reasons, what the question was like, and what would have come of it without sub-chiefs.
pub(super) fn lines(root: &Chapter, report: &Report, width: usize) -> Vec<Line> {
    let mut lines = flow("decision", decided(report), width);
    if report.partial {
        let silent = format!("no vote from {}", silent(&report.votes).join(", "));
        lines.extend(flow("partial", vec![(Tone::Odd, silent)], width));
    }
    let result = root.result.as_ref();
    if let Some(result) = result.filter(|result| result.status != Status::Ok) {
        let why = one_line(&result.stop_reason.to_string());
        lines.extend(flow("stopped", vec![(Tone::Odd, why)], width));
    }
    for (index, paragraph) in paragraphs(&report.reasoning).into_iter().enumerate() {
        let head = if index == 0 { "reasons" } else { "" };
        lines.extend(flow(head, vec![(Tone::Plain, paragraph)], width));
    }
    let question = vec![(Tone::Plain, complexity(report))];
    lines.extend(flow("question", question, width));
    if let Some(alone) = &report.alone {
        let compared = vec![(Tone::Plain, compared(alone))];
        lines.extend(flow("compared", compared, width));
    }
    lines
}

/// The parts of the decision.
fn decided(report: &Report) -> Vec<(Tone, String)> {
    let Some(vote) = report.vote else {
        return vec![(Tone::Bad, "none: no votes".to_owned())];
    };
    let mut parts = vec![(tone(vote), vote.word().to_owned())];
    if report.tied {
        parts.push((Tone::Odd, "tied".to_owned()));
    } else {
        let confidence = format!("confidence {}", percent(report.confidence));
        let agreement = format!("agreement {}", percent(report.agreement));
        parts.push((Tone::Plain, confidence));
        parts.push((Tone::Plain, agreement));
    }
    if !report.dissent.is_empty() {
        let dissent = one_line(&report.dissent.join(", "));
        parts.push((Tone::Odd, format!("dissent: {dissent}")));
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

/// Why sub-chiefs were asked, or why not.
fn complexity(report: &Report) -> String {
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

fn signal(reason: &Reason) -> String {
    match reason {
        Reason::Length { tokens } => format!("long ({tokens} tokens)"),
        Reason::Uncertainty { phrases } => format!("uncertain ({})", phrases.join(", ")),
        Reason::Domains { domains } => format!("broad ({})", domains.join(", ")),
        Reason::Factors { factors } => {
            let number = factors.len() as u64;
            let number = many(number, "factor", "factors");
            format!("{number} ({})", factors.join(", "))
        }
        Reason::Learned { log_odds_milli } => {
            let whole = log_odds_milli.unsigned_abs();
            let sign = if *log_odds_milli < 0 { '-' } else { '+' };
            let (ones, rest) = (whole / 1000, whole % 1000);
            format!("learned from past councils ({sign}{ones}.{rest:03})")
        }
    }
}

fn compared(alone: &Alone) -> String {
    let (vote, percent) = (alone.vote, percent(alone.confidence));
    let elapsed = figures::span(alone.elapsed);
    format!("without sub-chiefs: {vote} {percent}, {elapsed}")
}

/// Parts side by side where they fit, else below each other; one that is wider than a line is broken.
fn flow(head: &str, parts: Vec<(Tone, String)>, width: usize) -> Vec<Line> {
    let width = width.min(TEXT_COLUMNS_MAX);
    let room = width.saturating_sub(HEAD_COLUMNS);
    let begun = |head: &str| Line::new().with(Tone::Faint, pad(head, HEAD_COLUMNS));
    let mut lines = Vec::new();
    let mut line = begun(head);
    for (index, (tone, part)) in parts.into_iter().enumerate() {
        if index > 0 && line.columns() + GAP.len() + columns(&part) <= width {
            line.push(Tone::Plain, GAP);
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
