//! Splits a streamed body into frames: the data of server-sent events, or lines.

/// Maximum size of a frame.
pub(crate) const FRAME_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Framing of a wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameKind {
    /// Server-sent events: `data:` lines up to an empty line.
    Events,
    /// One JSON value per line.
    Lines,
}

/// Reasons why a body cannot be split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameError {
    /// A frame is larger than the limit.
    TooLarge,
    /// A line is not UTF-8.
    NotText,
}

/// A body while it is read.
#[derive(Debug)]
pub(crate) struct FrameReader {
    framing: FrameKind,
    line: Vec<u8>,
    data: String,
    begun: bool,
}

impl FrameReader {
    pub(crate) fn new(framing: FrameKind) -> Self {
        Self {
            framing,
            line: Vec::new(),
            data: String::new(),
            begun: false,
        }
    }

    /// The frames completed by `bytes`.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Vec<String>, FrameError> {
        let mut frames = Vec::new();
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
            self.line.extend_from_slice(&rest[..end]);
            rest = &rest[end + 1..];
            self.end_line(&mut frames)?;
        }
        self.line.extend_from_slice(rest);
        if self.line.len() + self.data.len() > FRAME_BYTES_MAX {
            return Err(FrameError::TooLarge);
        }
        Ok(frames)
    }

    /// The rest at the end of the body: a last frame without its separator.
    pub(crate) fn finish(mut self) -> Option<String> {
        let mut frames = Vec::new();
        self.end_line(&mut frames).ok()?;
        if self.framing == FrameKind::Events {
            self.dispatch(&mut frames);
        }
        frames.pop()
    }

    fn end_line(&mut self, frames: &mut Vec<String>) -> Result<(), FrameError> {
        let bytes = std::mem::take(&mut self.line);
        // Only whole lines are decoded: a chunk may end within a character.
        let mut line = std::str::from_utf8(&bytes).map_err(|_| FrameError::NotText)?;
        if !self.begun {
            // Some servers start with a byte order mark.
            self.begun = true;
            line = line.strip_prefix('\u{feff}').unwrap_or(line);
        }
        let line = line.strip_suffix('\r').unwrap_or(line);
        match self.framing {
            FrameKind::Lines if line.trim().is_empty() => {}
            FrameKind::Lines => frames.push(line.to_owned()),
            FrameKind::Events if line.is_empty() => self.dispatch(frames),
            // Event names and ids add nothing to the data; comments keep the connection alive.
            FrameKind::Events => {
                if let Some(data) = line.strip_prefix("data:") {
                    if !self.data.is_empty() {
                        self.data.push('\n');
                    }
                    self.data.push_str(data.strip_prefix(' ').unwrap_or(data));
                }
            }
        }
        Ok(())
    }

    fn dispatch(&mut self, frames: &mut Vec<String>) {
        if !self.data.is_empty() {
            frames.push(std::mem::take(&mut self.data));
        }
    }
}

#[cfg(test)]
#[path = "frames_tests.rs"]
mod tests;
