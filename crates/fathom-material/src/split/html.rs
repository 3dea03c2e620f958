//! HTML: its text by blocks, with source lines.
//!
//! This is also the plain text of a document: `pre` keeps its lines, `br` ends one, and a table row is a line
//! with tabs between its cells.

use std::borrow::Cow;

use html5gum::emitters::default::{DefaultEmitter, Token};
use html5gum::{Span, Tokenizer};

use super::break_points::weight;
use super::{BlockKind, HeadingOutline, TextBlock, lines_of};
use crate::limits::PASSAGE_WORDS_MAX;

/// Elements without readable content.
const UNREAD: [&[u8]; 6] = [
    b"script",
    b"style",
    b"template",
    b"noscript",
    b"svg",
    b"iframe",
];

/// Elements within a line. All others start a block.
const INLINE: [&[u8]; 29] = [
    b"a", b"abbr", b"b", b"bdi", b"bdo", b"cite", b"code", b"data", b"del", b"dfn", b"em", b"font",
    b"i", b"ins", b"kbd", b"label", b"mark", b"q", b"s", b"samp", b"small", b"span", b"strong",
    b"sub", b"sup", b"time", b"u", b"var", b"wbr",
];

/// Blocks surrounded by blank lines, as in browsers.
const APART: [&[u8]; 13] = [
    b"blockquote",
    b"dl",
    b"h1",
    b"h2",
    b"h3",
    b"h4",
    b"h5",
    b"h6",
    b"hr",
    b"p",
    b"pre",
    b"table",
    b"title",
];

pub(super) fn outline(text: &str) -> HeadingOutline<'static> {
    let mut emitter = DefaultEmitter::<usize>::new_with_span();
    // Follows `script` and the like into their own syntax, without building a tree that a hostile page could
    // make deep.
    emitter.naively_switch_states(true);
    let mut reader = HtmlReader {
        lines: lines_of(text),
        read: HeadingOutline::default(),
        written: String::new(),
        block: None,
        cells: None,
        in_pre: false,
        unread: None,
    };
    for token in Tokenizer::new_with_emitter(text, emitter) {
        let Ok(token) = token;
        reader.token(token);
    }
    reader.end_row();
    let end = reader.written.trim_end_matches('\n').len();
    reader.written.truncate(end);
    HeadingOutline {
        text: Cow::Owned(reader.written),
        ..reader.read
    }
}

struct HtmlReader {
    /// Line starts of the source.
    lines: Vec<(usize, u32)>,
    read: HeadingOutline<'static>,
    written: String,
    /// Start and kind of the open block.
    block: Option<(usize, BlockKind)>,
    /// Starts of the cells in the open row.
    cells: Option<Vec<usize>>,
    in_pre: bool,
    /// The element that is being left out, and how many of its kind are open.
    unread: Option<(Vec<u8>, usize)>,
}

impl HtmlReader {
    fn token(&mut self, token: Token<usize>) {
        match token {
            Token::StartTag(tag) if !tag.self_closing || is_cell(&tag.name) => {
                self.start(&tag.name);
            }
            Token::StartTag(tag) => self.between(&tag.name),
            Token::EndTag(tag) => self.end(&tag.name),
            Token::String(text) if self.unread.is_none() => {
                self.text(&String::from_utf8_lossy(&text.value), text.span);
            }
            Token::String(_) | Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }

    fn start(&mut self, name: &[u8]) {
        match &mut self.unread {
            Some((unread, open)) if unread == name => *open += 1,
            Some(_) => {}
            None if UNREAD.contains(&name) => self.unread = Some((name.to_owned(), 1)),
            None => self.open(name),
        }
    }

    fn open(&mut self, name: &[u8]) {
        let kind = match name {
            [b'h', level @ b'1'..=b'6'] => Some(BlockKind::Heading(level - b'0')),
            b"title" => Some(BlockKind::Heading(0)),
            b"li" | b"tr" | b"td" | b"th" | b"dt" | b"dd" | b"pre" => Some(BlockKind::Lines),
            _ => None,
        };
        if matches!(kind, Some(BlockKind::Heading(_))) || matches!(name, b"pre" | b"table") {
            // The row is used for layout and is not a record.
            self.cells = None;
        }
        self.between(name);
        let start = self.written.len();
        if let Some(kind) = kind {
            self.block = Some((start, kind));
        }
        match name {
            b"tr" => self.cells = Some(Vec::new()),
            b"pre" => self.in_pre = true,
            name if is_cell(name) => self.cells.iter_mut().for_each(|cells| cells.push(start)),
            _ => {}
        }
    }

    fn end(&mut self, name: &[u8]) {
        match &mut self.unread {
            Some((unread, open)) if unread == name => {
                *open -= 1;
                if *open == 0 {
                    self.unread = None;
                }
            }
            Some(_) => {}
            None => {
                self.between(name);
                self.in_pre &= name != b"pre";
            }
        }
    }

    /// Separates blocks, lines, words or nothing, depending on the tag.
    fn between(&mut self, name: &[u8]) {
        match name {
            b"br" => self.end_line(),
            b"img" | b"input" => self.space(),
            b"tr" | b"thead" | b"tbody" | b"tfoot" => self.end_row(),
            name if INLINE.contains(&name) => {}
            name => {
                if name == b"table" {
                    self.end_row();
                }
                self.end_block();
                if APART.contains(&name) {
                    self.blank_line();
                }
            }
        }
    }

    fn text(&mut self, text: &str, span: Span<usize>) {
        // An entity is longer than its character, so positions are right to the line, if not to the character.
        let mut at = span.start;
        for part in text.split_inclusive('\n') {
            if self.in_pre {
                self.line(part, at);
            } else {
                self.words(part, at);
            }
            at += part.len();
        }
    }

    /// Preformatted text, without blank lines at its start.
    fn line(&mut self, text: &str, at: usize) {
        let is_blank = text.trim().is_empty();
        if is_blank && text.ends_with('\n') && self.is_empty() {
            return;
        }
        self.begin(BlockKind::Lines);
        if !is_blank {
            self.stands_on(self.line_at(at));
        }
        self.written.push_str(text);
    }

    fn words(&mut self, text: &str, at: usize) {
        let words = text.trim();
        if text.starts_with(char::is_whitespace) || words.is_empty() {
            self.space();
        }
        if words.is_empty() {
            return;
        }
        self.begin(BlockKind::Prose);
        self.stands_on(self.line_at(at + (text.len() - text.trim_start().len())));
        push_words(&mut self.written, words);
        if text.ends_with(char::is_whitespace) {
            self.space();
        }
    }

    /// Opens a block of this kind unless one is open.
    fn begin(&mut self, kind: BlockKind) {
        let start = self.written.len();
        self.block.get_or_insert((start, kind));
    }

    /// Records the source line of what follows.
    fn stands_on(&mut self, line: u32) {
        if self.read.lines.last().is_none_or(|&(_, last)| last != line) {
            self.read.lines.push((self.written.len(), line));
        }
    }

    /// True if the open block has no text yet.
    fn is_empty(&self) -> bool {
        self.block
            .is_none_or(|(start, _)| start == self.written.len())
    }

    fn space(&mut self) {
        if !self.is_empty() && !self.written.ends_with(char::is_whitespace) {
            self.written.push(' ');
        }
    }

    fn end_line(&mut self) {
        if !self.is_empty() {
            if self.written.ends_with(' ') {
                self.written.pop();
            }
            self.written.push('\n');
        }
    }

    fn blank_line(&mut self) {
        if !self.written.is_empty() && !self.written.ends_with("\n\n") {
            self.written.push('\n');
        }
    }

    fn end_block(&mut self) {
        if let Some((start, kind)) = self.block.take() {
            let end = start + self.written[start..].trim_end().len();
            self.written.truncate(end);
            if start < end {
                let range = start..end;
                self.read.blocks.push(TextBlock { range, kind });
                self.written.push('\n');
            }
        }
    }

    /// Turns a row into one line, unless its cells are too long for that.
    fn end_row(&mut self) {
        self.end_block();
        let cells = self.cells.take().unwrap_or_default();
        let [start, _, ..] = *cells else {
            return;
        };
        let ends = cells.iter().skip(1).copied().chain([self.written.len()]);
        let texts = cells.iter().zip(ends).map(|(&from, to)| {
            let text = self.written[from..to].trim();
            (text.to_owned(), self.read.line_at(from))
        });
        let texts: Vec<(String, u32)> = texts.collect();
        let has_lines = texts.iter().any(|(text, _)| text.contains('\n'));
        let is_long = weight(&self.written[start..]) > PASSAGE_WORDS_MAX;
        if texts.iter().all(|(text, _)| text.is_empty()) || has_lines && is_long {
            return;
        }
        let before = |&(at, _): &(usize, u32)| at < start;
        let lines = self.read.lines.partition_point(before);
        self.read.lines.truncate(lines);
        let blocks = &mut self.read.blocks;
        blocks.truncate(blocks.partition_point(|block| block.range.start < start));
        self.written.truncate(start);
        for (index, (text, line)) in texts.iter().enumerate() {
            if index > 0 {
                self.written.push('\t');
            }
            if !text.is_empty() {
                self.stands_on(*line);
            }
            push_words(&mut self.written, text);
        }
        let range = start..self.written.len();
        let kind = BlockKind::Lines;
        self.read.blocks.push(TextBlock { range, kind });
        self.written.push('\n');
    }

    fn line_at(&self, offset: usize) -> u32 {
        let after = self.lines.partition_point(|&(start, _)| start <= offset);
        self.lines
            .get(after.saturating_sub(1))
            .map_or(1, |&(_, line)| line)
    }
}

fn is_cell(name: &[u8]) -> bool {
    matches!(name, b"td" | b"th")
}

fn push_words(to: &mut String, text: &str) {
    for (index, word) in text.split_whitespace().enumerate() {
        if index > 0 {
            to.push(' ');
        }
        to.push_str(word);
    }
}
