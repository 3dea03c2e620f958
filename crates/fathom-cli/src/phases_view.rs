//! How a question was thought through: the phases, the commands, and what was said to those who run this.

use fathom_core::programs::phases::{CommandNote, CommandStatus, Outcome, Report};
use fathom_host::story::Story;

use crate::line::{Line, Tone};
use crate::plain_text::{columns, one_line, safe};
use crate::result_json::phases_report;

/// The action whose text is for people.
const FEEDBACK: &str = "emit_feedback";

/// What the phase loop of a run did; nothing for any other run.
pub(crate) fn lines(story: &Story, width: usize) -> Vec<Line> {
    let Some(report) = story.root().and_then(phases_report) else {
        return Vec::new();
    };
    if report.phases.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![Line::new()];
    lines.extend(path(&report, width));
    lines.extend(
        report
            .commands
            .iter()
            .map(|note| command(note).clipped(width)),
    );
    if !report.symbols.is_empty() {
        let ids = safe(&report.symbols.join(" "));
        lines.push(
            Line::new()
                .with(Tone::Faint, "symbols ")
                .with(Tone::Plain, ids)
                .clipped(width),
        );
    }
    lines.extend(feedback(&report).map(|said| {
        Line::new()
            .with(Tone::Faint, "feedback ")
            .with(Tone::Odd, said)
            .clipped(width)
    }));
    let warnings = report.warnings.iter();
    lines.extend(warnings.map(|warning| {
        Line::new()
            .with(Tone::Faint, "warning ")
            .with(Tone::Odd, one_line(warning))
            .clipped(width)
    }));
    lines
}

/// What a run said to those who run it.
pub(crate) fn feedback(report: &Report) -> impl Iterator<Item = String> {
    let said = report
        .commands
        .iter()
        .filter(|note| note.action == FEEDBACK && note.status == CommandStatus::Ok);
    said.map(|note| {
        let text = ["text", "message", "feedback", "note"]
            .iter()
            .find_map(|name| note.arguments.get(*name)?.as_str());
        one_line(text.unwrap_or(&note.result))
    })
}

/// The phases one after the other, on as many lines as they take.
fn path(report: &Report, width: usize) -> Vec<Line> {
    const HEAD: &str = "phases  ";
    let mut lines = Vec::new();
    let mut line = Line::new().with(Tone::Faint, HEAD);
    let mut used = HEAD.len();
    for (at, phase) in report.phases.iter().enumerate() {
        let (tone, mark) = match phase.outcome {
            Outcome::Ok => (Tone::Plain, ""),
            Outcome::Unreadable => (Tone::Bad, " (unreadable)"),
            Outcome::Failed => (Tone::Bad, " (failed)"),
        };
        let name = format!("{}{mark}", safe(&phase.id));
        let arrow = if at > 0 { " → " } else { "" };
        let more = columns(arrow) + columns(&name);
        if at > 0 && used + more > width {
            let begun = Line::new().with(Tone::Faint, " ".repeat(HEAD.len()));
            lines.push(std::mem::replace(&mut line, begun));
            used = HEAD.len();
        }
        line.push(Tone::Faint, arrow);
        line.push(tone, name);
        used += more;
    }
    lines.push(line);
    lines.into_iter().map(|line| line.clipped(width)).collect()
}

fn command(note: &CommandNote) -> Line {
    let tone = if note.status == CommandStatus::Ok {
        Tone::Good
    } else {
        Tone::Odd
    };
    Line::new()
        .with(Tone::Faint, "command ")
        .with(tone, one_line(&note.action))
        .with(Tone::Plain, format!("  {}", one_line(&note.result)))
}
