//! Lines at the bottom of the terminal that are drawn anew in place.

use std::io::Write;

use crate::terminal::styled_line::{self, StyledLine};

const HIDE_CURSOR: &str = "\u{1b}[?25l";
pub(crate) const SHOW_CURSOR: &str = "\u{1b}[?25h";
const CLEAR_LINE: &str = "\u{1b}[2K";
const CLEAR_BELOW: &str = "\u{1b}[J";

/// Use of escape codes for colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    Yes,
    No,
}

/// Draws lines and takes them away again. The cursor is hidden meanwhile and comes back when it is dropped.
pub(crate) struct LiveArea<W: Write> {
    out: W,
    colour: Colour,
    /// Columns of each line that stands there, for how many rows it takes in a terminal that became narrower.
    drawn: Vec<usize>,
    is_cursor_hidden: bool,
}

impl<W: Write> LiveArea<W> {
    pub(crate) const fn new(out: W, colour: Colour) -> Self {
        Self {
            out,
            colour,
            drawn: Vec::new(),
            is_cursor_hidden: false,
        }
    }

    /// Draws `lines` over what was drawn before, in a terminal that is now `width` columns wide.
    pub(crate) fn draw(&mut self, lines: &[StyledLine], width: usize) {
        let lines = styled_line::masked(lines);
        let mut frame = self.back_to_start(width);
        if !self.is_cursor_hidden {
            frame.push_str(HIDE_CURSOR);
            self.is_cursor_hidden = true;
        }
        for line in lines.iter() {
            // Line by line instead of the whole area at once, which would flicker.
            frame.push_str(CLEAR_LINE);
            frame.push_str(&self.coloured(line));
            // A carriage return as well, because a terminal in raw mode does not add it.
            frame.push_str("\r\n");
        }
        frame.push_str(CLEAR_BELOW);
        self.drawn = lines.iter().map(StyledLine::columns).collect();
        self.write(&frame);
    }

    /// Prints `lines` for good, above what is drawn next.
    pub(crate) fn print(&mut self, lines: &[StyledLine], width: usize) {
        let lines = styled_line::masked(lines);
        let mut text = self.back_to_start(width);
        text.push_str(CLEAR_BELOW);
        for line in lines.iter() {
            text.push_str(&self.coloured(line));
            text.push_str("\r\n");
        }
        self.drawn.clear();
        self.write(&text);
    }

    /// Takes away what was drawn and gives the cursor back.
    pub(crate) fn end(&mut self, width: usize) {
        let mut text = self.back_to_start(width);
        if !text.is_empty() {
            text.push_str(CLEAR_BELOW);
        }
        self.drawn.clear();
        if self.is_cursor_hidden {
            text.push_str(SHOW_CURSOR);
            self.is_cursor_hidden = false;
        }
        self.write(&text);
    }

    /// The way back to where the first drawn line begins.
    fn back_to_start(&self, width: usize) -> String {
        let rows: usize = self
            .drawn
            .iter()
            // After a resize a drawn line takes more rows than it was drawn with.
            .map(|columns| columns.div_ceil(width.max(1)).max(1))
            .sum();
        if rows == 0 {
            String::new()
        } else {
            format!("\r\u{1b}[{rows}A")
        }
    }

    fn coloured(&self, line: &StyledLine) -> String {
        match self.colour {
            Colour::Yes => line.styled(),
            Colour::No => line.plain(),
        }
    }

    /// Writes a frame at once, so that half a frame is never visible. Errors are ignored, since drawing must not end a
    /// run.
    fn write(&mut self, text: &str) {
        if !text.is_empty() {
            // A terminal that is gone must not end the run.
            let _ = self.out.write_all(text.as_bytes());
            let _ = self.out.flush();
        }
    }
}

impl<W: Write> Drop for LiveArea<W> {
    fn drop(&mut self) {
        if self.is_cursor_hidden {
            self.is_cursor_hidden = false;
            self.write(SHOW_CURSOR);
        }
    }
}

#[cfg(test)]
#[path = "live_area_tests.rs"]
mod tests;
