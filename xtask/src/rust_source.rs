//! Enough of Rust's grammar to look at code without being fooled by comments and strings.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::pattern;

/// A Rust file beside a copy in which comments and literals are blank. Both have the same byte offsets.
pub(crate) struct RustSource<'a> {
    pub(crate) raw: &'a str,
    pub(crate) code: String,
    /// Where comments stand, a line comment without its line's end.
    pub(crate) comments: Vec<Range<usize>>,
    /// Where strings and characters stand, with their quotes.
    pub(crate) literals: Vec<Range<usize>>,
}

/// Neighbouring lines of documentation.
pub(crate) struct DocBlock<'a> {
    pub(crate) offset: usize,
    /// Without the slashes and the space after them.
    pub(crate) lines: Vec<&'a str>,
}

/// What stands directly before an item.
pub(crate) struct Preamble<'a> {
    /// Attributes as written, from `#[` to `]`, the nearest first.
    pub(crate) attributes: Vec<&'a str>,
    /// The first line of the doc comment, without its slashes.
    pub(crate) first_doc_line: Option<&'a str>,
}

impl<'a> RustSource<'a> {
    pub(crate) fn parse(raw: &'a str) -> Self {
        let (comments, literals) = comments_and_literals(raw);
        let code = with_blanks(raw, comments.iter().chain(&literals));
        Self {
            raw,
            code,
            comments,
            literals,
        }
    }

    /// The documentation in `///` and `//!`, block by block.
    pub(crate) fn doc_blocks(&self) -> Vec<DocBlock<'a>> {
        let mut blocks: Vec<DocBlock<'a>> = Vec::new();
        let mut previous_end = None;
        for comment in &self.comments {
            let Some(text) = doc_text(&self.raw[comment.clone()]) else {
                continue;
            };
            let goes_on = previous_end.is_some_and(|end: usize| {
                let gap = &self.raw[end..comment.start];
                gap.trim().is_empty() && gap.matches('\n').count() == 1
            });
            previous_end = Some(comment.end);
            match blocks.last_mut() {
                Some(block) if goes_on => block.lines.push(text),
                _ => blocks.push(DocBlock {
                    offset: comment.start,
                    lines: vec![text],
                }),
            }
        }
        blocks
    }

    /// The attributes and docs of the item that starts at an offset.
    pub(crate) fn preamble(&self, item: usize) -> Preamble<'a> {
        let mut attributes = Vec::new();
        let mut start = item;
        loop {
            let before = self.code[..start].trim_end();
            let attribute = before
                .ends_with(']')
                .then(|| open_bracket(before))
                .flatten()
                .filter(|open| before[..*open].ends_with('#'))
                .map(|open| open - 1);
            let Some(attribute) = attribute else {
                start = before.len();
                break;
            };
            attributes.push(&self.raw[attribute..before.len()]);
            start = attribute;
        }
        let first_doc_line = self.raw[start..item]
            .lines()
            .find_map(|line| line.trim_start().strip_prefix("///"));
        Preamble {
            attributes,
            first_doc_line,
        }
    }

    /// The offset of the bracket that closes the one at `open`.
    pub(crate) fn closing(&self, open: usize) -> Option<usize> {
        close_bracket(&self.code, open)
    }

    /// The byte ranges of inline test modules and test functions.
    pub(crate) fn test_regions(&self) -> Vec<Range<usize>> {
        static TEST_ATTRIBUTE: LazyLock<Regex> = LazyLock::new(|| {
            pattern::constant(r"#\[\s*(?:cfg\((?:all\()?test\b|(?:\w+::)*test\b)")
        });
        TEST_ATTRIBUTE
            .find_iter(&self.code)
            .filter_map(|found| {
                let attribute_end = close_bracket(&self.code, found.start() + 1)?;
                let body = attribute_end + self.code[attribute_end..].find(['{', ';'])?;
                let end = if self.code[body..].starts_with('{') {
                    close_bracket(&self.code, body)?
                } else {
                    body
                };
                Some(found.start()..end + 1)
            })
            .collect()
    }
}

/// The offset of the bracket that closes the one at `open`.
fn close_bracket(code: &str, open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (offset, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(offset);
                }
            }
            _ => {}
        }
    }
    None
}

/// The offset of the bracket that the last byte of `code` closes.
fn open_bracket(code: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (offset, byte) in code.bytes().enumerate().rev() {
        match byte {
            b')' | b']' | b'}' => depth += 1,
            b'(' | b'[' | b'{' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(offset);
                }
            }
            _ => {}
        }
    }
    None
}

/// The text of a line of documentation; a divider such as `////` is none.
fn doc_text(comment: &str) -> Option<&str> {
    let text = comment.strip_prefix("//!").or_else(|| {
        comment
            .strip_prefix("///")
            .filter(|text| !text.starts_with('/'))
    })?;
    Some(text.strip_prefix(' ').unwrap_or(text).trim_end())
}

fn comments_and_literals(raw: &str) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let (mut comments, mut literals) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < raw.len() {
        let token = token(raw, at);
        match token.kind {
            TokenKind::Code => {}
            TokenKind::Comment => comments.push(at..token.end),
            TokenKind::Literal => literals.push(at..token.end),
        }
        at = token.end;
    }
    (comments, literals)
}

/// A copy with blanks in place of some ranges; lines stay where they are.
pub(crate) fn with_blanks<'r>(
    text: &str,
    ranges: impl Iterator<Item = &'r Range<usize>>,
) -> String {
    let mut copy = text.as_bytes().to_vec();
    for range in ranges {
        let hidden = copy[range.clone()]
            .iter_mut()
            .filter(|byte| **byte != b'\n');
        hidden.for_each(|byte| *byte = b' ');
    }
    // The ranges begin and end at ASCII bytes, so no character was split.
    String::from_utf8_lossy(&copy).into_owned()
}

/// A piece of the text, up to its end.
struct Token {
    kind: TokenKind,
    end: usize,
}

enum TokenKind {
    Code,
    Comment,
    Literal,
}

fn token(raw: &str, at: usize) -> Token {
    let bytes = raw.as_bytes();
    let hidden = match bytes[at] {
        b'/' if bytes[at..].starts_with(b"//") => Some((TokenKind::Comment, line_end(bytes, at))),
        b'/' if bytes[at..].starts_with(b"/*") => {
            Some((TokenKind::Comment, block_comment_end(bytes, at)))
        }
        b'"' => Some((TokenKind::Literal, string_end(bytes, at))),
        b'\'' => char_literal_end(raw, at).map(|end| (TokenKind::Literal, end)),
        byte if is_word(byte) => {
            let end = word_end(bytes, at);
            // A word is taken whole, so that the `r` of `for"…"` is no prefix.
            let literal = raw_string_end(bytes, at, end);
            Some(literal.map_or((TokenKind::Code, end), |end| (TokenKind::Literal, end)))
        }
        _ => None,
    };
    let (kind, end) = hidden.unwrap_or((TokenKind::Code, at + 1));
    Token {
        kind,
        end: end.min(bytes.len()),
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

fn word_end(bytes: &[u8], start: usize) -> usize {
    let length = bytes[start..].iter().take_while(|byte| is_word(**byte));
    start + length.count()
}

fn line_end(bytes: &[u8], start: usize) -> usize {
    let length = bytes[start..].iter().take_while(|byte| **byte != b'\n');
    start + length.count()
}

fn block_comment_end(bytes: &[u8], start: usize) -> usize {
    let mut depth = 0_usize;
    let mut at = start;
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    bytes.len()
}

/// The end of a string whose opening quote is at `start`.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The end of `r"…"`, `br#"…"#` and the like whose prefix is the word at `start`.
fn raw_string_end(bytes: &[u8], start: usize, word_end: usize) -> Option<usize> {
    if !matches!(&bytes[start..word_end], b"r" | b"br" | b"cr") {
        return None;
    }
    let hashes = bytes[word_end..]
        .iter()
        .take_while(|byte| **byte == b'#')
        .count();
    let quote = word_end + hashes;
    if bytes.get(quote) != Some(&b'"') {
        return None;
    }
    let mut terminator = vec![b'"'];
    terminator.resize(hashes + 1, b'#');
    let body = quote + 1;
    let length = bytes[body..]
        .windows(terminator.len())
        .position(|window| window == terminator);
    Some(length.map_or(bytes.len(), |length| body + length + terminator.len()))
}

/// The end of a character literal, or nothing where the quote opens a lifetime.
fn char_literal_end(raw: &str, start: usize) -> Option<usize> {
    let mut rest = raw[start + 1..].char_indices();
    let (_, first) = rest.next()?;
    if first == '\\' {
        rest.next()?;
    }
    match rest.next()? {
        (offset, '\'') => Some(start + 1 + offset + 1),
        _ if first == '\\' => {
            let length = raw[start + 1..].find('\'')?;
            Some(start + 1 + length + 1)
        }
        _ => None,
    }
}

#[cfg(test)]
#[path = "rust_source_tests.rs"]
mod tests;
