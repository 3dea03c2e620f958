//! Code fences, followed byte by byte.

/// Fewest marks of a fence.
// Both as in CommonMark, so that what a screen shows as code is code here.
const FENCE_MARKS_MIN: usize = 3;
/// Most spaces before a fence; more would make it a line of indented code.
const INDENT_SPACES_MAX: u8 = 3;

/// A fence that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence {
    mark: u8,
    length: usize,
}

impl Fence {
    /// The character it is made of: a backtick or a tilde.
    pub fn mark(self) -> char {
        char::from(self.mark)
    }

    /// Number of fence characters.
    pub const fn length(self) -> usize {
        self.length
    }
}

/// The forms that the current line can still take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    Indent(u8),
    Run(Fence),
    /// An opening fence, with what is written after it.
    Info(Fence),
    /// A closing fence, with blanks after it.
    Closing,
    Plain,
}

/// Follows code fences through a text: opened and closed at the start of a line after up to three spaces, closed by as many
/// of the same mark or more, with nothing after them.
#[derive(Clone, Debug)]
pub struct Fences {
    open: Option<Fence>,
    line: Line,
}

impl Default for Fences {
    fn default() -> Self {
        Self {
            open: None,
            line: Line::Indent(0),
        }
    }
}

impl Fences {
    /// The fence that is open after the lines so far.
    pub const fn open(&self) -> Option<Fence> {
        self.open
    }

    /// Takes a piece of text.
    pub fn push(&mut self, text: &str) {
        for byte in text.bytes() {
            self.feed(byte);
        }
    }

    /// True if nothing before the next line end can matter.
    pub(super) fn is_settled(&self) -> bool {
        self.line == Line::Plain
    }

    pub(super) fn feed(&mut self, byte: u8) {
        if byte == b'\n' {
            self.end_line();
            return;
        }
        self.line = match self.line {
            Line::Indent(spaces) if byte == b' ' && spaces < INDENT_SPACES_MAX => {
                Line::Indent(spaces + 1)
            }
            Line::Indent(_) => self.first(byte),
            Line::Run(fence) if byte == fence.mark => Line::Run(Fence {
                length: fence.length + 1,
                ..fence
            }),
            Line::Run(fence) => match self.open {
                Some(open) if fence.length >= open.length && is_blank(byte) => Line::Closing,
                None if fence.length >= FENCE_MARKS_MIN => Line::Info(fence),
                Some(_) | None => Line::Plain,
            },
            // Backticks after backticks are code within a line.
            Line::Info(fence) if fence.mark == b'`' && byte == b'`' => Line::Plain,
            Line::Closing if !is_blank(byte) => Line::Plain,
            Line::Info(_) | Line::Closing | Line::Plain => self.line,
        };
    }

    fn first(&self, byte: u8) -> Line {
        let may_close = self.open.is_none_or(|open| open.mark == byte);
        if matches!(byte, b'`' | b'~') && may_close {
            Line::Run(Fence {
                mark: byte,
                length: 1,
            })
        } else {
            Line::Plain
        }
    }

    fn end_line(&mut self) {
        match self.line {
            Line::Run(fence) => match self.open {
                Some(open) if fence.length >= open.length => self.open = None,
                None if fence.length >= FENCE_MARKS_MIN => self.open = Some(fence),
                Some(_) | None => {}
            },
            Line::Info(fence) => self.open = Some(fence),
            Line::Closing => self.open = None,
            Line::Indent(_) | Line::Plain => {}
        }
        self.line = Line::Indent(0);
    }
}

/// A carriage return counts, for it stands before the line end.
pub(super) const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

#[cfg(test)]
#[path = "fence_tests.rs"]
mod tests;
