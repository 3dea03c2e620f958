//! Course of a phase loop: the phases, the commands, and the feedback to its operators.

use fathom_host::view::run::RunView;
use fathom_programs::phases::{CommandNote, CommandStatus, PhaseOutcome, PhasesReport};

use crate::terminal::plain_text::{columns, one_line, safe};
use crate::terminal::styled_line::{LineStyle, StyledLine};
use crate::view::result_json::phases_report;

/// The action whose text is for people.
const FEEDBACK: &str = "emit_feedback";

/// Lines about the phase loop of a run; none for any other run.
pub(crate) fn lines(story: &RunView, width: usize) -> Vec<StyledLine> {
    let Some(report) = story.root().and_then(phases_report) else {
        return Vec::new();
    };
    if report.phases.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![StyledLine::new()];
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
            StyledLine::new()
                .with(LineStyle::Faint, "symbols ")
                .with(LineStyle::Plain, ids)
                .clipped(width),
        );
    }
    lines.extend(feedback(&report).map(|said| {
        StyledLine::new()
            .with(LineStyle::Faint, "feedback ")
            .with(LineStyle::Odd, said)
            .clipped(width)
    }));
    let warnings = report.warnings.iter();
    lines.extend(warnings.map(|warning| {
        StyledLine::new()
            .with(LineStyle::Faint, "warning ")
            .with(LineStyle::Odd, one_line(warning))
            .clipped(width)
    }));
    lines
}

/// Feedback of a run to its operators.
pub(crate) fn feedback(report: &PhasesReport) -> impl Iterator<Item = String> {
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
fn path(report: &PhasesReport, width: usize) -> Vec<StyledLine> {
    const HEAD: &str = "phases  ";
    let mut lines = Vec::new();
    let mut line = StyledLine::new().with(LineStyle::Faint, HEAD);
    let mut used = HEAD.len();
    for (at, phase) in report.phases.iter().enumerate() {
        let (tone, mark) = match phase.outcome {
            PhaseOutcome::Ok => (LineStyle::Plain, ""),
            PhaseOutcome::Unreadable => (LineStyle::Bad, " (unreadable)"),
            PhaseOutcome::Failed => (LineStyle::Bad, " (failed)"),
        };
        let name = format!("{}{mark}", safe(&phase.id));
        let arrow = if at > 0 { " → " } else { "" };
        let more = columns(arrow) + columns(&name);
        if at > 0 && used + more > width {
            let begun = StyledLine::new().with(LineStyle::Faint, " ".repeat(HEAD.len()));
            lines.push(std::mem::replace(&mut line, begun));
            used = HEAD.len();
        }
        line.push(LineStyle::Faint, arrow);
        line.push(tone, name);
        used += more;
    }
    lines.push(line);
    lines.into_iter().map(|line| line.clipped(width)).collect()
}

fn command(note: &CommandNote) -> StyledLine {
    let tone = if note.status == CommandStatus::Ok {
        LineStyle::Good
    } else {
        LineStyle::Odd
    };
    StyledLine::new()
        .with(LineStyle::Faint, "command ")
        .with(tone, one_line(&note.action))
        .with(LineStyle::Plain, format!("  {}", one_line(&note.result)))
}
