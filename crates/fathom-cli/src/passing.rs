//! A line that tells how far something is, and goes away.

use std::io::Stderr;

use crate::line::{Line, Tone};
use crate::output;
use crate::painter::Painter;
use crate::settings::Loudness;

/// A line on a terminal; nothing where there is none.
pub(crate) struct Passing {
    painter: Option<Painter<Stderr>>,
}

impl Passing {
    pub(crate) fn new(loudness: Loudness) -> Self {
        Self {
            painter: match loudness {
                Loudness::Quiet => None,
                Loudness::Usual | Loudness::Verbose => output::painter(),
            },
        }
    }

    pub(crate) fn show(&mut self, said: &str) {
        let width = output::stderr_size().map_or(80, |(width, _)| width);
        if let Some(painter) = &mut self.painter {
            painter.draw(&[Line::new().with(Tone::Faint, said)], width);
        }
    }

    pub(crate) fn end(&mut self) {
        let width = output::stderr_size().map_or(80, |(width, _)| width);
        if let Some(painter) = &mut self.painter {
            painter.end(width);
        }
    }
}
