//! HTML: its text, block by block, with the lines it comes from.

use std::borrow::Cow;

use html5gum::emitters::default::{DefaultEmitter, Token};
use html5gum::{Span, Tokenizer};

use super::{Block, BlockKind, Outline, lines_of};

/// Elements whose content nobody reads.
const UNREAD: [&[u8]; 6] = [
    b"script",
    b"style",
    b"template",
    b"noscript",
    b"svg",
    b"iframe",
];

/// Elements that stand within a line. All others begin a block.
const INLINE: [&[u8]; 28] = [
    b"a", b"abbr", b"b", b"bdi", b"bdo", b"cite", b"code", b"data", b"del", b"dfn", b"em", b"font",
    b"i", b"ins", b"kbd", b"label", b"mark", b"q", b"s", b"samp", b"small", b"span", b"strong",
    b"sub", b"sup", b"time", b"u", b"var",
];

pub(super) fn outline(text: &str) -> Outline<'static> {
    let mut emitter = DefaultEmitter::<usize>::new_with_span();
    emitter.naively_switch_states(true);
    let mut reader = Reader {
        lines: lines_of(text),
        read: Outline::default(),
        written: String::new(),
        block: None,
        unread: None,
    };
    let Ok(tokens) = Tokenizer::new_with_emitter(text, emitter).collect::<Result<Vec<_>, _>>();
    for token in tokens {
        reader.token(token);
    }
    reader.end_block();
    Outline {
        text: Cow::Owned(reader.written),
        ..reader.read
    }
}

struct Reader {
    /// Of the source.
    lines: Vec<(usize, u32)>,
    read: Outline<'static>,
    written: String,
    /// Where the open block began, and what it is.
    block: Option<(usize, BlockKind)>,
    /// The element whose content is left out, and how many of its kind are open.
    unread: Option<(Vec<u8>, usize)>,
}

impl Reader {
    fn token(&mut self, token: Token<usize>) {
        match token {
            Token::StartTag(tag) if !tag.self_closing => self.start(&tag.name),
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
            None => {
                self.between(name);
                if let [b'h', level @ b'1'..=b'6'] = name {
                    self.block = Some((self.written.len(), BlockKind::Heading(level - b'0')));
                } else if matches!(name, b"title") {
                    self.block = Some((self.written.len(), BlockKind::Heading(0)));
                } else if matches!(name, b"li" | b"tr" | b"dt" | b"dd" | b"pre") {
                    self.block = Some((self.written.len(), BlockKind::Lines));
                }
            }
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
            None => self.between(name),
        }
    }

    /// A tag parts blocks, cells or nothing.
    fn between(&mut self, name: &[u8]) {
        match name {
            b"td" | b"th" | b"br" | b"img" | b"wbr" | b"input" => self.space(),
            name if INLINE.contains(&name) => {}
            _ => self.end_block(),
        }
    }

    fn text(&mut self, text: &str, span: Span<usize>) {
        // What an entity stands for is shorter than itself, so places are right to the line, if not to the character.
        let mut at = span.start;
        for part in text.split_inclusive('\n') {
            let words = part.trim();
            if part.starts_with(char::is_whitespace) || words.is_empty() {
                self.space();
            }
            if !words.is_empty() {
                let line = self.line_at(at + (part.len() - part.trim_start().len()));
                let start = self.written.len();
                self.block.get_or_insert((start, BlockKind::Prose));
                if self.read.lines.last().is_none_or(|&(_, last)| last != line) {
                    self.read.lines.push((start, line));
                }
                for (index, word) in words.split_whitespace().enumerate() {
                    if index > 0 {
                        self.written.push(' ');
                    }
                    self.written.push_str(word);
                }
                if part.ends_with(char::is_whitespace) {
                    self.space();
                }
            }
            at += part.len();
        }
    }

    fn space(&mut self) {
        if self
            .block
            .is_some_and(|(start, _)| start < self.written.len())
            && !self.written.ends_with(char::is_whitespace)
        {
            self.written.push(' ');
        }
    }

    fn end_block(&mut self) {
        if let Some((start, kind)) = self.block.take()
            && start < self.written.len()
        {
            let range = start..self.written.len();
            self.read.blocks.push(Block { range, kind });
            self.written.push('\n');
        }
    }

    fn line_at(&self, offset: usize) -> u32 {
        let after = self.lines.partition_point(|&(start, _)| start <= offset);
        self.lines
            .get(after.saturating_sub(1))
            .map_or(1, |&(_, line)| line)
    }
}
