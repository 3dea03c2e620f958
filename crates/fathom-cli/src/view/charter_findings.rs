//! Findings in a charter, in the style of a compiler.

use fathom_host::charter::Finding;

use crate::terminal::plain_text::safe;
use crate::terminal::styled_line::{LineStyle, StyledLine};

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Severity {
    /// The charter cannot be used.
    Error,
    /// It can.
    Warning,
}

/// The finding with its place, the line there and a hint.
pub(crate) fn lines(gravity: Severity, finding: &Finding) -> Vec<StyledLine> {
    let (word, tone) = match gravity {
        Severity::Error => ("error", LineStyle::Bad),
        Severity::Warning => ("warning", LineStyle::Odd),
    };
    let head = StyledLine::new()
        .with(tone, format!("{word}[{}]", finding.code()))
        .with(
            LineStyle::Plain,
            format!(": {}", safe(&finding.flaw.to_string())),
        );
    let picture = finding.picture().into_iter();
    let picture = picture.map(|line| StyledLine::new().with(LineStyle::Faint, safe(&line)));
    let hint = StyledLine::new()
        .with(LineStyle::Busy, "hint")
        .with(LineStyle::Plain, format!(": {}", safe(&finding.hint())));
    std::iter::once(head).chain(picture).chain([hint]).collect()
}
