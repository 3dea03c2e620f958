//! The words of a text, and what stands between them.

use unicode_segmentation::UnicodeSegmentation;

/// A word and its place.
#[derive(Clone, Copy)]
pub(super) struct WordToken<'t> {
    pub(super) start: usize,
    pub(super) text: &'t str,
    /// True if the word is in lower-case ASCII already.
    pub(super) plain: bool,
}

impl WordToken<'_> {
    pub(super) fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// Classes of a byte by the token that it can be part of.
const BETWEEN: u8 = 0;
const PLAIN: u8 = 1;
const CAPITAL: u8 = 2;
const WIDE: u8 = 4;

const KINDS: [u8; 256] = kinds();

const fn kinds() -> [u8; 256] {
    let mut kinds = [BETWEEN; 256];
    let mut byte = 0;
    while byte < 256 {
        kinds[byte] = match byte {
            0x30..=0x39 | 0x61..=0x7A => PLAIN,
            0x41..=0x5A => CAPITAL,
            0x80.. => WIDE,
            _ => BETWEEN,
        };
        byte += 1;
    }
    kinds
}

/// Hands over every word, in order.
///
/// Letters and digits of ASCII are words as they stand. Where other characters touch them, Unicode's rules say what a
/// word is (UAX #29), except that an apostrophe parts words.
pub(super) fn each<'t>(text: &'t str, mut on_word: impl FnMut(WordToken<'t>)) {
    let bytes = text.as_bytes();
    let mut start = 0;
    while start < bytes.len() {
        let mut seen = BETWEEN;
        let length = bytes[start..].iter().position(|byte| {
            let kind = KINDS[usize::from(*byte)];
            seen |= kind;
            kind == BETWEEN
        });
        let end = length.map_or(bytes.len(), |length| start + length);
        let text = &text[start..end];
        if seen & WIDE != 0 {
            wide(text, start, &mut on_word);
        } else if seen != BETWEEN {
            let plain = seen == PLAIN;
            on_word(WordToken { start, text, plain });
        }
        start = end + 1;
    }
}

#[inline(never)]
fn wide<'t>(chunk: &'t str, offset: usize, on_word: &mut impl FnMut(WordToken<'t>)) {
    for (place, word) in chunk.unicode_word_indices() {
        let mut start = offset + place;
        for part in word.split('’') {
            if !part.is_empty() {
                on_word(WordToken {
                    start,
                    text: part,
                    plain: false,
                });
            }
            start += part.len() + '’'.len_utf8();
        }
    }
}

/// The word in lower case, in `buffer` where it is not so already.
pub(super) fn lower<'a>(word: &WordToken<'a>, buffer: &'a mut String) -> &'a str {
    if word.plain {
        return word.text;
    }
    buffer.clear();
    push_lower(word.text, buffer);
    buffer
}

pub(super) fn push_lower(word: &str, buffer: &mut String) {
    if word.is_ascii() {
        let start = buffer.len();
        buffer.push_str(word);
        buffer[start..].make_ascii_lowercase();
    } else {
        buffer.extend(word.chars().flat_map(char::to_lowercase));
    }
}

/// Distance of two neighbouring words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordGap {
    /// They belong together: a space, a hyphen, an apostrophe, a quotation mark.
    Near,
    /// A comma or its like is between them.
    Comma,
    /// A colon is between them.
    Colon,
    /// A sentence or a paragraph is over.
    End,
}

impl WordGap {
    /// The gap between the bytes `from` and `to`.
    pub(super) fn between(text: &str, from: usize, to: usize) -> Self {
        let gap = &text[from..to];
        if gap == " " {
            return Self::Near;
        }
        let mut chars = gap.chars();
        if let (Some(only), None) = (chars.next(), chars.next()) {
            return Self::lone(only, text, from, to);
        }
        Self::wide(gap)
    }

    /// A single character between two words: `3.5`, `1,000` and `CI/CD` are no lists, `cost,latency` is one.
    fn lone(only: char, text: &str, from: usize, to: usize) -> Self {
        let bytes = text.as_bytes();
        let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        match only {
            ',' if from > 0 && digit(from - 1) && digit(to) => Self::Near,
            ',' | ';' | '、' | '，' | '；' => Self::Comma,
            '。' | '？' | '！' => Self::End,
            '：' => Self::Colon,
            _ => Self::Near,
        }
    }

    fn wide(gap: &str) -> Self {
        let mut widest = Self::Near;
        let mut lines = 0;
        let mut bullet = false;
        for char in gap.chars() {
            match char {
                '.' | '?' | '!' | '…' | '。' | '？' | '！' | '–' | '—' => {
                    return Self::End;
                }
                ':' | '：' => widest = Self::Colon,
                ',' | ';' | '&' | '、' | '，' | '；' if widest == Self::Near => {
                    widest = Self::Comma;
                }
                '\n' => lines += 1,
                '-' | '*' | '+' | '•' if lines > 0 => bullet = true,
                _ => {}
            }
        }
        match (widest, bullet) {
            (Self::Near, true) => Self::Comma,
            (Self::Near | Self::Comma, false) if lines > 1 => Self::End,
            _ => widest,
        }
    }
}

#[cfg(test)]
#[path = "tokenize_tests.rs"]
mod tests;
