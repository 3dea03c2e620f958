//! What was found in a charter, as a compiler would show it.

use fathom_host::charter::Finding;

use crate::line::{Line, Tone};
use crate::plain_text::safe;

/// How grave a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gravity {
    /// The charter cannot be used.
    Error,
    /// It can.
    Warning,
}

/// The finding with its place, the line there and a hint.
pub(crate) fn lines(gravity: Gravity, finding: &Finding) -> Vec<Line> {
    let (word, tone) = match gravity {
        Gravity::Error => ("error", Tone::Bad),
        Gravity::Warning => ("warning", Tone::Odd),
    };
    let head = Line::new()
        .with(tone, format!("{word}[{}]", finding.code()))
        .with(
            Tone::Plain,
            format!(": {}", safe(&finding.flaw.to_string())),
        );
    let picture = finding.picture().into_iter();
    let picture = picture.map(|line| Line::new().with(Tone::Faint, safe(&line)));
    let hint = Line::new()
        .with(Tone::Busy, "hint")
        .with(Tone::Plain, format!(": {}", safe(&finding.hint())));
    std::iter::once(head).chain(picture).chain([hint]).collect()
}
