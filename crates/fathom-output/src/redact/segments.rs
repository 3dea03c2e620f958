//! Cuts a text into segments, each of which is filtered by itself.
//!
//! A cut depends on the text and never on how it arrives: it is the first position at which a rule holds, given
//! everything that the rule looks at. Later text cannot move it. So a text gives the same segments in one piece
//! and byte by byte.

use super::scan::{KEY_MARK_BYTES_MAX, key_begin, key_end_mark, unfinished_key};

/// Maximum size of a segment. A longer line is processed in windows of this size.
pub const WINDOW_BYTES: usize = 16 * 1024;
/// Size of the part of a window that is processed again with the next one: no entity up to this size is cut in
/// two.
pub const OVERLAP_BYTES: usize = 4 * 1024;
/// Maximum size of a private key that is held back for its end.
pub const KEY_BYTES_MAX: usize = 16 * 1024;

/// The next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextSegment {
    /// Nothing can be decided before more text arrives.
    Wait,
    /// A segment of this many bytes.
    Segment(usize),
    /// A window of this many bytes, to be continued.
    Window(usize),
}

/// Finds the next cut, and remembers what was already examined.
#[derive(Clone, Debug, Default)]
pub(super) struct SegmentCutter {
    /// Bytes without a cut.
    seen: usize,
    /// True if there is an odd number of quotes before `seen`.
    quoted: bool,
    /// Bytes without the end of a private key.
    no_key_end: usize,
    /// Bytes examined, each as often as it was.
    pub(super) steps: u64,
}

impl SegmentCutter {
    /// Finds the next cut. `ended` is true if no more text comes.
    pub(super) fn next(&mut self, text: &str, ended: bool) -> NextSegment {
        if text.is_empty() {
            return NextSegment::Wait;
        }
        match self.line(text) {
            Some(end) => self.with_key(text, end, ended),
            None if text.len() >= WINDOW_BYTES => {
                // Text beyond the window must not matter, not even its first byte.
                let window = floor(text, WINDOW_BYTES);
                self.with_key_in_window(text, window, ended)
            }
            None if ended => self.with_key(text, text.len(), ended),
            None => NextSegment::Wait,
        }
    }

    /// Drops a finished segment.
    pub(super) fn advance(&mut self, bytes: usize) {
        // Text already examined after a cut contains no cut either.
        self.seen = self.seen.saturating_sub(bytes);
        self.quoted &= self.seen > 0;
        self.no_key_end = self.no_key_end.saturating_sub(bytes);
    }

    /// The end of a line or of a sentence, within a window.
    fn line(&mut self, text: &str) -> Option<usize> {
        let from = self.seen;
        let end = self.line_end(text);
        self.steps += (self.seen - from) as u64;
        end
    }

    fn line_end(&mut self, text: &str) -> Option<usize> {
        let bytes = text.as_bytes();
        let bytes = &bytes[..bytes.len().min(WINDOW_BYTES)];
        while let Some(&byte) = bytes.get(self.seen) {
            match byte {
                b'\n' => return Some(self.seen + 1),
                b'"' => self.quoted = !self.quoted,
                b'.' | b'!' | b'?' if !self.quoted => {
                    // One or two more bytes show if a sentence ends here.
                    let ends = match (bytes.get(self.seen + 1), bytes.get(self.seen + 2)) {
                        (None, _) | (Some(b' '), None) => return None,
                        (Some(b' '), Some(after)) => {
                            !after.is_ascii_digit() && !after.is_ascii_whitespace()
                        }
                        (Some(_), _) => false,
                    };
                    let word = self.seen.checked_sub(1).is_some_and(|before| {
                        bytes[before].is_ascii_lowercase() || bytes[before] == b')'
                    });
                    if ends && word {
                        return Some(self.seen + 2);
                    }
                }
                _ => {}
            }
            self.seen += 1;
        }
        None
    }

    /// A segment with the start of a private key extends to the end of the key.
    fn with_key(&mut self, text: &str, end: usize, ended: bool) -> NextSegment {
        match key_begin(&text[..end]) {
            Some(begin) => self.key(text, begin, ended),
            None => NextSegment::Segment(end),
        }
    }

    fn with_key_in_window(&mut self, text: &str, window: usize, ended: bool) -> NextSegment {
        match key_begin(&text[..window]) {
            // The key becomes a segment of its own once the text before it is finished.
            Some(0) => self.key(text, 0, ended),
            Some(begin) => NextSegment::Segment(begin),
            None => NextSegment::Window(window),
        }
    }

    fn key(&mut self, text: &str, begin: usize, ended: bool) -> NextSegment {
        let limit = floor(text, begin + KEY_BYTES_MAX);
        // An end mark may straddle the position up to which there is none.
        let from = floor(
            text,
            begin.max(self.no_key_end.saturating_sub(KEY_MARK_BYTES_MAX)),
        );
        self.steps += limit.saturating_sub(from) as u64;
        if from < limit
            && let Some(end) = key_end_mark(&text[from..limit])
        {
            return NextSegment::Segment(from + end);
        }
        if text.len() < begin + KEY_BYTES_MAX && !ended {
            return NextSegment::Wait;
        }
        self.no_key_end = limit;
        NextSegment::Segment(begin + unfinished_key(&text[begin..limit]))
    }
}

/// The last character boundary at or before a position.
pub(super) fn floor(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at)
}
