//! Code fences, followed byte by byte.

/// Fewest marks of a fence.
// Both as in CommonMark, so that what a screen shows as code is code here.
const FENCE_MARKS_MIN: usize = 3;
/// Most spaces before a fence; more would make it a line of indented code.
const INDENT_SPACES_MAX: u8 = 3;

/// A fence that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenFence {
    mark: u8,
    length: usize,
}

impl OpenFence {
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
enum FenceLineState {
    Indent(u8),
    Run(OpenFence),
    /// An opening fence, with what is written after it.
    Info(OpenFence),
    /// A closing fence, with blanks after it.
    Closing,
    Plain,
}

/// Follows code fences through a text: opened and closed at the start of a line after up to three spaces, closed by as many
/// of the same mark or more, with nothing after them.
#[derive(Clone, Debug)]
pub struct FenceTracker {
    open: Option<OpenFence>,
    line: FenceLineState,
}

impl Default for FenceTracker {
    fn default() -> Self {
        Self {
            open: None,
            line: FenceLineState::Indent(0),
        }
    }
}

impl FenceTracker {
    /// The fence that is open after the lines so far.
    pub const fn open(&self) -> Option<OpenFence> {
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
        self.line == FenceLineState::Plain
    }

    pub(super) fn feed(&mut self, byte: u8) {
        if byte == b'\n' {
            self.end_line();
            return;
        }
        self.line = match self.line {
            FenceLineState::Indent(spaces) if byte == b' ' && spaces < INDENT_SPACES_MAX => {
                FenceLineState::Indent(spaces + 1)
            }
            FenceLineState::Indent(_) => self.first(byte),
            FenceLineState::Run(fence) if byte == fence.mark => FenceLineState::Run(OpenFence {
                length: fence.length + 1,
                ..fence
            }),
            FenceLineState::Run(fence) => match self.open {
                Some(open) if fence.length >= open.length && is_blank(byte) => {
                    FenceLineState::Closing
                }
                None if fence.length >= FENCE_MARKS_MIN => FenceLineState::Info(fence),
                Some(_) | None => FenceLineState::Plain,
            },
            // Backticks after backticks are code within a line.
            FenceLineState::Info(fence) if fence.mark == b'`' && byte == b'`' => {
                FenceLineState::Plain
            }
            FenceLineState::Closing if !is_blank(byte) => FenceLineState::Plain,
            FenceLineState::Info(_) | FenceLineState::Closing | FenceLineState::Plain => self.line,
        };
    }

    fn first(&self, byte: u8) -> FenceLineState {
        let may_close = self.open.is_none_or(|open| open.mark == byte);
        if matches!(byte, b'`' | b'~') && may_close {
            FenceLineState::Run(OpenFence {
                mark: byte,
                length: 1,
            })
        } else {
            FenceLineState::Plain
        }
    }

    fn end_line(&mut self) {
        match self.line {
            FenceLineState::Run(fence) => match self.open {
                Some(open) if fence.length >= open.length => self.open = None,
                None if fence.length >= FENCE_MARKS_MIN => self.open = Some(fence),
                Some(_) | None => {}
            },
            FenceLineState::Info(fence) => self.open = Some(fence),
            FenceLineState::Closing => self.open = None,
            FenceLineState::Indent(_) | FenceLineState::Plain => {}
        }
        self.line = FenceLineState::Indent(0);
    }
}

/// A carriage return counts, for it stands before the line end.
pub(super) const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

#[cfg(test)]
#[path = "fence_tests.rs"]
mod tests;
