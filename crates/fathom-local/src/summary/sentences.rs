//! A text as sentences: where each one stands, and what it demands.
//!
//! Unicode's rules do most of it, for Chinese and Japanese full stops too. What they do not know is added here: lines that
//! were wrapped, items of a list, abbreviations, and sentences that never end.

use std::borrow::Cow;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation as _;

/// Bytes of a sentence. A longer one is cut after a clause, or else between words: about what the embedding model reads.
pub const SENTENCE_BYTES_MAX: usize = 1200;

/// Columns from which on a line without a full stop was wrapped, rather than ended.
const WRAPPED_COLUMNS_MIN: usize = 60;

/// Words that turn a sentence into a rule, in English and German. Words that end in `n't` do so too.
const RULE_WORDS: &[&str] = &[
    "always",
    "cannot",
    "darf",
    "dürfen",
    "erforderlich",
    "except",
    "forbidden",
    "immer",
    "kein",
    "keine",
    "keinen",
    "keinesfalls",
    "mandatory",
    "muss",
    "must",
    "müssen",
    "never",
    "nicht",
    "nie",
    "niemals",
    "no",
    "not",
    "nur",
    "only",
    "pflicht",
    "prohibited",
    "require",
    "required",
    "requires",
    "shall",
    "sollen",
    "unless",
    "verboten",
    "without",
];

/// What stands before a full stop that ends no sentence.
const ABBREVIATIONS: &[&str] = &[
    "abs", "approx", "art", "bspw", "bzw", "ca", "cf", "d.h", "dr", "e.g", "evtl", "fig", "ggf",
    "i.e", "jr", "mr", "mrs", "ms", "nr", "prof", "sog", "sr", "st", "u.a", "vgl", "vol", "vs",
    "z.b",
];

/// What a sentence demands; what demands more comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// It says what has to be, or must not be.
    Rule,
    /// It has a number in it.
    Figure,
    /// Anything else.
    Plain,
}

/// A sentence in its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sentence<'a> {
    /// Its text, without space around it.
    pub text: &'a str,
    /// The byte of the source at which it begins.
    pub start: usize,
    /// What it demands.
    pub kind: Kind,
}

impl Sentence<'_> {
    /// Where it stands in its source, as bytes.
    pub fn range(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }
}

/// The sentences of a text, in order. What has no letter and no digit is none, unless there is nothing else.
pub fn split(text: &str) -> Vec<Sentence<'_>> {
    let mut sentences = Vec::new();
    let mut rest = Vec::new();
    for block in blocks(text) {
        for range in within(text, block) {
            for piece in pieces(text, range) {
                let sentence = Sentence {
                    kind: kind(&text[piece.clone()]),
                    start: piece.start,
                    text: &text[piece],
                };
                if sentence.text.contains(char::is_alphanumeric) {
                    sentences.push(sentence);
                } else {
                    rest.push(sentence);
                }
            }
        }
    }
    if sentences.is_empty() {
        rest
    } else {
        sentences
    }
}

/// Stretches that no sentence goes beyond: paragraphs, items, headings, lines that were ended and not wrapped.
fn blocks(text: &str) -> Vec<Range<usize>> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    let mut previous = "";
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        let trimmed = line.trim();
        if !trimmed.is_empty() {
            match blocks.last_mut() {
                Some(block) if goes_on(previous, trimmed) => block.end = end,
                Some(_) | None => blocks.push(start..end),
            }
        }
        previous = trimmed;
        start = end;
    }
    blocks
}

fn goes_on(previous: &str, line: &str) -> bool {
    let ended = previous.is_empty()
        || previous.starts_with('#')
        || previous.ends_with(['.', '!', '?', ':', ';', '…', '。', '！', '？', '：', '；']);
    let wrapped =
        previous.chars().count() >= WRAPPED_COLUMNS_MIN || line.starts_with(char::is_lowercase);
    !ended && wrapped && marker_length(line) == 0 && !line.starts_with('#')
}

/// Bytes of what marks a line as an item: `-`, `*`, `•`, `3.`, `(b)`.
fn marker_length(line: &str) -> usize {
    let Some((first, _)) = line.split_once(char::is_whitespace) else {
        return 0;
    };
    let bullet = matches!(first, "-" | "*" | "+" | "•" | "–" | "—" | "‣" | "·");
    let label = first.trim_start_matches('(').trim_end_matches([')', '.']);
    let numbered = label.len() < first.len()
        && (1..=3).contains(&label.len())
        && (label.bytes().all(|byte| byte.is_ascii_digit())
            || (label.len() == 1 && first.ends_with(')')));
    if bullet || numbered { first.len() } else { 0 }
}

/// The sentences of a block, by Unicode's rules, with those put together that an abbreviation or a marker took apart.
fn within(text: &str, block: Range<usize>) -> Vec<Range<usize>> {
    let original = &text[block.clone()];
    // A wrapped line is one sentence still; both kinds of line end have one byte, as a space has.
    let flat = if original.trim_end().contains('\n') {
        Cow::Owned(original.replace(['\n', '\r'], " "))
    } else {
        Cow::Borrowed(original)
    };
    let mut sentences: Vec<Range<usize>> = Vec::new();
    let mut open = false;
    for (start, piece) in flat.split_sentence_bound_indices() {
        let end = start + piece.len();
        let joined = match sentences.last_mut() {
            Some(sentence) if open => {
                sentence.end = end;
                sentence.clone()
            }
            Some(_) | None => {
                sentences.push(start..end);
                start..end
            }
        };
        open = is_open(flat[joined].trim(), &flat[end..]);
    }
    sentences
        .into_iter()
        .map(|sentence| block.start + sentence.start..block.start + sentence.end)
        .collect()
}

/// Whether a full stop is not the end.
fn is_open(sentence: &str, next: &str) -> bool {
    let Some(before) = sentence.strip_suffix('.') else {
        // A mark alone, such as an opening quote or a bullet, belongs to what follows.
        return !sentence.contains(char::is_alphanumeric);
    };
    let word = before
        .rsplit(|c: char| c.is_whitespace() || c == '(')
        .next()
        .unwrap_or(before);
    let mut letters = word.chars();
    let initial = letters.next().is_some_and(char::is_alphabetic) && letters.next().is_none();
    let item = word == before && !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let lower = word.to_lowercase();
    let number =
        matches!(lower.as_str(), "no" | "p") && next.starts_with(|c: char| c.is_ascii_digit());
    initial || item || number || ABBREVIATIONS.contains(&lower.as_str())
}

/// A sentence without the space around it, or several where it is too long.
fn pieces(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut rest = trimmed(text, range);
    while rest.len() > SENTENCE_BYTES_MAX {
        let cut = rest.start + cut(&text[rest.clone()]);
        pieces.push(trimmed(text, rest.start..cut));
        rest = trimmed(text, cut..rest.end);
    }
    if !rest.is_empty() {
        pieces.push(rest);
    }
    pieces
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let part = &text[range.clone()];
    let start = range.start + part.len() - part.trim_start().len();
    start..start + part.trim().len()
}

/// Where to cut a sentence that is too long: after the last clause in the second half of what is allowed, else before the
/// last space, else behind the word that alone is too long.
fn cut(sentence: &str) -> usize {
    let head = &sentence[..sentence.floor_char_boundary(SENTENCE_BYTES_MAX)];
    let clause = head
        .char_indices()
        .filter(|&(at, c)| {
            let end = at + c.len_utf8();
            match c {
                '，' | '、' | '；' | '：' => true,
                ',' | ';' | ':' | '–' | '—' => head[end..].starts_with(char::is_whitespace),
                _ => false,
            }
        })
        .map(|(at, c)| at + c.len_utf8())
        .next_back()
        .filter(|&end| end > SENTENCE_BYTES_MAX / 2);
    clause
        .or_else(|| head.rfind(char::is_whitespace))
        .or_else(|| sentence.find(char::is_whitespace))
        .unwrap_or(sentence.len())
}

fn kind(sentence: &str) -> Kind {
    let body = &sentence[marker_length(sentence)..];
    let rule = body.unicode_words().any(|word| {
        let word = word.to_lowercase();
        RULE_WORDS.contains(&word.as_str()) || word.ends_with("n't") || word.ends_with("n’t")
    });
    if rule {
        Kind::Rule
    } else if body.contains(char::is_numeric) {
        Kind::Figure
    } else {
        Kind::Plain
    }
}

/// What two sentences share that say the same in the same words: case, space and the mark of an item do not count.
pub(super) fn wording(sentence: &str) -> String {
    let body = &sentence[marker_length(sentence)..];
    let mut words = String::with_capacity(body.len());
    for word in body.split_whitespace() {
        words.push_str(&word.to_lowercase());
        words.push(' ');
    }
    words
}

#[cfg(test)]
#[path = "sentences_tests.rs"]
mod tests;
