//! Reads blocks from a stream that arrives in any pieces.

use super::fence::{FenceTracker, is_blank};
use super::{BlockKind, Marker};
use crate::journal::command::OutputBlock;
use crate::text::Text;

/// A part of what was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MarkerEvent {
    /// A block begins. Inside another one only a thought seed does.
    Start(BlockKind),
    /// More text of the block that began last and has not ended.
    Text(String),
    /// That block ends.
    End(BlockKind),
}

/// The parser's position in a line.
#[derive(Clone, Copy, Debug)]
enum LineState {
    Start,
    /// So many bytes of a marker were seen. No two markers begin alike, so this says which bytes they were.
    Marker(Marker, usize),
    /// Between a marker and its text.
    Gap,
    Text,
}

/// A thought seed that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpenSeed {
    Silent,
    Said,
}

/// Reads blocks from a stream. Text is passed on as it comes: only the beginning of what may be a marker is held back.
#[derive(Clone, Debug)]
pub struct MarkerParser {
    outer: Option<BlockKind>,
    seed: Option<OpenSeed>,
    fences: FenceTracker,
    at: LineState,
    line_is_blank: bool,
}

impl Default for MarkerParser {
    fn default() -> Self {
        Self {
            outer: None,
            seed: None,
            fences: FenceTracker::default(),
            at: LineState::Start,
            line_is_blank: true,
        }
    }
}

impl MarkerParser {
    /// A parser at the beginning of a text.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes more text.
    pub fn push(&mut self, chunk: &str) -> Vec<MarkerEvent> {
        let mut out = Vec::new();
        // Text of the current block from here on has not been passed on.
        let mut from = 0;
        let mut index = 0;
        while let Some(&byte) = chunk.as_bytes().get(index) {
            match self.at {
                // Within a fence a marker is quoted, not meant.
                LineState::Start => {
                    match marker_with(byte).filter(|_| self.fences.open().is_none()) {
                        Some(marker) => {
                            self.say(part(chunk, from, index), &mut out);
                            self.at = LineState::Marker(marker, 1);
                            index += 1;
                            from = index;
                        }
                        None => self.at = LineState::Text,
                    }
                }
                LineState::Marker(marker, seen) => {
                    if marker.prefix().as_bytes().get(seen) != Some(&byte) {
                        // Not consumed: this byte may itself begin a marker or end the line.
                        self.release(&mut out);
                        continue;
                    }
                    index += 1;
                    from = index;
                    self.at = if seen + 1 == marker.prefix().len() {
                        self.begin(marker, &mut out);
                        LineState::Gap
                    } else {
                        LineState::Marker(marker, seen + 1)
                    };
                }
                LineState::Gap => match byte {
                    b'\n' => {
                        index += 1;
                        from = index;
                        self.at = LineState::Start;
                    }
                    blank if is_blank(blank) => {
                        index += 1;
                        from = index;
                    }
                    _ => self.at = LineState::Text,
                },
                LineState::Text => {
                    index = self.skip_to_what_matters(chunk, index);
                    let Some(&byte) = chunk.as_bytes().get(index) else {
                        break;
                    };
                    index += 1;
                    self.read(byte);
                    if byte == b'\n' && self.ends_line() {
                        self.say(part(chunk, from, index), &mut out);
                        from = index;
                        self.end_seed(&mut out);
                    }
                }
            }
        }
        self.say(part(chunk, from, chunk.len()), &mut out);
        out
    }

    /// The text ends here: what was held back is text, and what is open ends.
    pub fn finish(mut self) -> Vec<MarkerEvent> {
        let mut out = Vec::new();
        self.release(&mut out);
        self.end_all(&mut out);
        out
    }

    /// The next byte that can change anything, from `index` on.
    fn skip_to_what_matters(&self, chunk: &str, index: usize) -> usize {
        if !self.fences.is_settled() || self.line_is_blank {
            return index;
        }
        let rest = part(chunk, index, chunk.len());
        // Inside a character of several bytes there is no slice, and no line end either.
        if rest.is_empty() {
            return index;
        }
        rest.find('\n').map_or(chunk.len(), |end| index + end)
    }

    /// Takes a byte of text.
    fn read(&mut self, byte: u8) {
        self.fences.feed(byte);
        if byte != b'\n' && !is_blank(byte) {
            self.line_is_blank = false;
            if let Some(seed) = &mut self.seed {
                *seed = OpenSeed::Said;
            }
        }
    }

    /// A line of text is over; says whether an open seed is too.
    fn ends_line(&mut self) -> bool {
        let was_blank = std::mem::replace(&mut self.line_is_blank, true);
        self.at = LineState::Start;
        // A blank line before its first word does not end a seed, and one inside a fence is code.
        was_blank && self.seed == Some(OpenSeed::Said) && self.fences.open().is_none()
    }

    /// Gives out as text what looked like a marker.
    fn release(&mut self, out: &mut Vec<MarkerEvent>) {
        if let LineState::Marker(marker, seen) = self.at {
            let held = part(marker.prefix(), 0, seen);
            held.bytes().for_each(|byte| self.read(byte));
            self.say(held, out);
            self.at = LineState::Text;
        }
    }

    fn begin(&mut self, marker: Marker, out: &mut Vec<MarkerEvent>) {
        if marker == Marker::ThoughtSeed {
            self.end_seed(out);
            self.seed = Some(OpenSeed::Silent);
        } else {
            self.end_all(out);
            self.outer = Some(BlockKind::Marked(marker));
        }
        out.push(MarkerEvent::Start(BlockKind::Marked(marker)));
    }

    fn end_seed(&mut self, out: &mut Vec<MarkerEvent>) {
        if self.seed.take().is_some() {
            out.push(MarkerEvent::End(BlockKind::Marked(Marker::ThoughtSeed)));
        }
    }

    fn end_all(&mut self, out: &mut Vec<MarkerEvent>) {
        self.end_seed(out);
        out.extend(self.outer.take().map(MarkerEvent::End));
    }

    /// Passes text on to the block that is open.
    fn say(&mut self, text: &str, out: &mut Vec<MarkerEvent>) {
        let mut text = text;
        if self.outer.is_none() && self.seed.is_none() {
            // Blank text before the first marker is no block of its own.
            text = text.trim_ascii_start();
            if !text.is_empty() {
                self.outer = Some(BlockKind::Unmarked);
                out.push(MarkerEvent::Start(BlockKind::Unmarked));
            }
        }
        if text.is_empty() {
            return;
        }
        if let Some(MarkerEvent::Text(said)) = out.last_mut() {
            said.push_str(text);
        } else {
            out.push(MarkerEvent::Text(text.to_owned()));
        }
    }
}

/// The blocks of a whole text, in the order in which they begin. Line ends before and white space after their text are left
/// out; a block may be empty.
pub fn blocks(text: &str) -> Vec<OutputBlock> {
    let mut parser = MarkerParser::new();
    let mut pieces = parser.push(text);
    pieces.extend(parser.finish());
    let mut read: Vec<(BlockKind, String)> = Vec::new();
    let mut open = Vec::new();
    for piece in pieces {
        match piece {
            MarkerEvent::Start(kind) => {
                open.push(read.len());
                read.push((kind, String::new()));
            }
            MarkerEvent::Text(text) => {
                let block = open.last().and_then(|index| read.get_mut(*index));
                if let Some((_, said)) = block {
                    said.push_str(&text);
                }
            }
            MarkerEvent::End(_) => {
                open.pop();
            }
        }
    }
    let block = |(kind, said): (BlockKind, String)| {
        let said = said.trim_end().trim_start_matches(['\r', '\n']);
        OutputBlock::marked(kind, Text::from(said))
    };
    read.into_iter().map(block).collect()
}

fn marker_with(first: u8) -> Option<Marker> {
    let is_first = |marker: &Marker| marker.prefix().as_bytes().first() == Some(&first);
    Marker::ALL.into_iter().find(is_first)
}

/// The places are always between characters; if they were not, nothing would be better than a panic.
fn part(text: &str, from: usize, to: usize) -> &str {
    text.get(from..to).unwrap_or_default()
}

#[cfg(test)]
#[path = "parser_tests.rs"]
mod tests;
