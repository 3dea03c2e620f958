//! A line of output in pieces, each with what it means; colour is put on at the end, and never alone.

use std::borrow::Cow;
use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use fathom_output::redact::RedactedText;

use crate::terminal::masking;
use crate::terminal::plain_text::{clip, columns};

/// Role of a piece of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineStyle {
    /// Said plainly.
    Plain,
    /// The heart of the matter.
    Strong,
    /// By the way.
    Faint,
    /// As it should be.
    Good,
    /// Not as it should be.
    Bad,
    /// Worth a look.
    Odd,
    /// At work.
    Busy,
}

impl LineStyle {
    const fn style(self) -> Style {
        let style = Style::new();
        match self {
            Self::Plain => style,
            Self::Strong => style.bold(),
            Self::Faint => style.dimmed(),
            Self::Good => style.fg_color(Some(anstyle::Color::Ansi(AnsiColor::Green))),
            Self::Bad => style
                .fg_color(Some(anstyle::Color::Ansi(AnsiColor::Red)))
                .bold(),
            Self::Odd => style.fg_color(Some(anstyle::Color::Ansi(AnsiColor::Yellow))),
            Self::Busy => style.fg_color(Some(anstyle::Color::Ansi(AnsiColor::Cyan))),
        }
    }
}

/// A line of output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StyledLine {
    pieces: Vec<(LineStyle, String)>,
}

impl StyledLine {
    /// An empty line.
    pub(crate) const fn new() -> Self {
        Self { pieces: Vec::new() }
    }

    /// The line with one piece more.
    #[must_use]
    pub(crate) fn with(mut self, tone: LineStyle, text: impl Into<String>) -> Self {
        self.push(tone, text);
        self
    }

    /// Adds a piece.
    pub(crate) fn push(&mut self, tone: LineStyle, text: impl Into<String>) {
        let text = text.into();
        if !text.is_empty() {
            self.pieces.push((tone, text));
        }
    }

    /// Columns it takes.
    pub(crate) fn columns(&self) -> usize {
        self.pieces.iter().map(|(_, text)| columns(text)).sum()
    }

    /// The line in at most `max` columns.
    #[must_use]
    pub(crate) fn clipped(self, max: usize) -> Self {
        if self.columns() <= max {
            return self;
        }
        // What is cut in the middle is not found any more.
        let whole = match masked(std::slice::from_ref(&self)) {
            Cow::Borrowed(_) => self.pieces,
            Cow::Owned(lines) => lines.into_iter().flat_map(|line| line.pieces).collect(),
        };
        let mut kept = Self::new();
        let mut left = max;
        for (tone, text) in whole {
            let taken = columns(&text);
            // The ellipsis needs a column after the last piece that fits.
            if taken < left {
                left -= taken;
                kept.push(tone, text);
            } else {
                // The added space makes the piece too long, so that `clip` always puts its ellipsis.
                kept.push(tone, clip(&format!("{text} "), left));
                break;
            }
        }
        kept
    }

    /// The line without colour.
    pub(crate) fn plain(&self) -> String {
        self.words().trim_end().to_owned()
    }

    fn words(&self) -> String {
        self.pieces.iter().map(|(_, text)| text.as_str()).collect()
    }

    /// The line with escape codes for colour.
    pub(crate) fn styled(&self) -> String {
        let mut styled = String::new();
        for (tone, text) in &self.pieces {
            let style = tone.style();
            // Writing to a string cannot fail.
            let _ = write!(styled, "{style}{text}{style:#}");
        }
        styled
    }
}

/// Lines as they may leave. They are looked at as one text, for a value may go over pieces and lines.
pub(crate) fn masked(lines: &[StyledLine]) -> Cow<'_, [StyledLine]> {
    let words: Vec<String> = lines.iter().map(StyledLine::words).collect();
    // Filtered as one text, since a value may be spread over pieces and lines, where none of them shows it alone.
    let whole = words.join("\n");
    match masking::redacted(&whole) {
        None => Cow::Borrowed(lines),
        Some(redacted) => Cow::Owned(repainted(lines, &whole, &redacted)),
    }
}

/// The words of `redacted` in the tones that `lines` had. Which words there are never depends on the tones.
fn repainted(lines: &[StyledLine], whole: &str, redacted: &RedactedText) -> Vec<StyledLine> {
    let mut brush = StyledWrapper {
        tones: tones(lines),
        left: &redacted.text,
        done: vec![StyledLine::new()],
    };
    let mut at = 0;
    let spans = joined(redacted);
    for (number, &(start, end)) in spans.iter().enumerate() {
        brush.copy(at, start);
        let next = spans.get(number + 1).map_or(whole.len(), |next| next.0);
        let after = whole.get(end..next).unwrap_or_default();
        brush.replace(start, after);
        at = end;
    }
    brush.copy(at, whole.len());
    brush.put(LineStyle::Plain, usize::MAX);
    brush.done
}

/// The tones of lines: up to which byte each goes, with a byte between two lines.
fn tones(lines: &[StyledLine]) -> Vec<(usize, LineStyle)> {
    let mut at = 0;
    let mut tones = Vec::new();
    for line in lines {
        for (tone, text) in &line.pieces {
            at += text.len();
            tones.push((at, *tone));
        }
        at += 1;
        tones.push((at, LineStyle::Plain));
    }
    tones
}

/// Places of findings, in order; adjacent ones are merged.
fn joined(redacted: &RedactedText) -> Vec<(usize, usize)> {
    let mut joined: Vec<(usize, usize)> = Vec::new();
    for span in &redacted.spans {
        match joined.last_mut() {
            // Adjacent findings leave no text between them by which their replacements could be told apart.
            Some(last) if span.start <= last.1 => last.1 = last.1.max(span.end),
            _ => joined.push((span.start, span.end)),
        }
    }
    joined
}

/// Puts text that is left into lines.
struct StyledWrapper<'a> {
    tones: Vec<(usize, LineStyle)>,
    left: &'a str,
    done: Vec<StyledLine>,
}

impl StyledWrapper<'_> {
    /// Text that stood at `start..end` before, unchanged.
    fn copy(&mut self, start: usize, end: usize) {
        let mut at = start;
        while at < end {
            let (until, tone) = self.tone(at);
            let until = until.min(end);
            self.put(tone, until - at);
            at = until;
        }
    }

    /// Replaces the text from `start` up to `after`.
    fn replace(&mut self, start: usize, after: &str) {
        let (_, tone) = self.tone(start);
        let length = if after.is_empty() {
            self.left.len()
        } else {
            // The length of a replacement is not known, but the text after it is unchanged and ends it.
            self.left.find(after).unwrap_or_default()
        };
        self.put(tone, length);
    }

    fn tone(&self, at: usize) -> (usize, LineStyle) {
        let place = self.tones.partition_point(|(until, _)| *until <= at);
        let tone = self.tones.get(place).copied();
        tone.unwrap_or((usize::MAX, LineStyle::Plain))
    }

    fn put(&mut self, tone: LineStyle, length: usize) {
        let (text, left) = self.left.split_at(self.left.floor_char_boundary(length));
        self.left = left;
        for (number, part) in text.split('\n').enumerate() {
            if number > 0 {
                self.done.push(StyledLine::new());
            }
            if let Some(line) = self.done.last_mut() {
                line.push(tone, part);
            }
        }
    }
}

impl From<&str> for StyledLine {
    fn from(text: &str) -> Self {
        Self::new().with(LineStyle::Plain, text)
    }
}

impl From<String> for StyledLine {
    fn from(text: String) -> Self {
        Self::new().with(LineStyle::Plain, text)
    }
}

#[cfg(test)]
#[path = "styled_line_tests.rs"]
mod tests;
