//! A line of output in pieces, each with what it means; colour is put on at the end, and never alone.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

use crate::plain_text::{clip, columns};

/// What a piece of a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
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

impl Tone {
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
pub(crate) struct Line {
    pieces: Vec<(Tone, String)>,
}

impl Line {
    /// An empty line.
    pub(crate) const fn new() -> Self {
        Self { pieces: Vec::new() }
    }

    /// The line with one piece more.
    #[must_use]
    pub(crate) fn with(mut self, tone: Tone, text: impl Into<String>) -> Self {
        self.push(tone, text);
        self
    }

    /// Adds a piece.
    pub(crate) fn push(&mut self, tone: Tone, text: impl Into<String>) {
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
        let mut kept = Self::new();
        let mut left = max;
        for (tone, text) in self.pieces {
            let taken = columns(&text);
            // The ellipsis needs a column after the last piece that fits.
            if taken < left {
                left -= taken;
                kept.push(tone, text);
            } else {
                kept.push(tone, clip(&format!("{text} "), left));
                break;
            }
        }
        kept
    }

    /// The line without colour.
    pub(crate) fn plain(&self) -> String {
        let text: String = self.pieces.iter().map(|(_, text)| text.as_str()).collect();
        text.trim_end().to_owned()
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

impl From<&str> for Line {
    fn from(text: &str) -> Self {
        Self::new().with(Tone::Plain, text)
    }
}

impl From<String> for Line {
    fn from(text: String) -> Self {
        Self::new().with(Tone::Plain, text)
    }
}

#[cfg(test)]
#[path = "line_tests.rs"]
mod tests;
