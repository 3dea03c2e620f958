//! A line that tells how far something is, and goes away.

use std::io::Stderr;

use crate::settings::Verbosity;
use crate::terminal::live_area::LiveArea;
use crate::terminal::output;
use crate::terminal::styled_line::{LineStyle, StyledLine};

/// A line on a terminal; nothing where there is none.
pub(crate) struct StatusLine {
    painter: Option<LiveArea<Stderr>>,
}

impl StatusLine {
    pub(crate) fn new(loudness: Verbosity) -> Self {
        Self {
            painter: match loudness {
                Verbosity::Quiet => None,
                Verbosity::Usual | Verbosity::Verbose => output::painter(),
            },
        }
    }

    pub(crate) fn show(&mut self, said: &str) {
        let width = output::stderr_size().map_or(80, |(width, _)| width);
        if let Some(painter) = &mut self.painter {
            painter.draw(&[StyledLine::new().with(LineStyle::Faint, said)], width);
        }
    }

    pub(crate) fn end(&mut self) {
        let width = output::stderr_size().map_or(80, |(width, _)| width);
        if let Some(painter) = &mut self.painter {
            painter.end(width);
        }
    }
}
