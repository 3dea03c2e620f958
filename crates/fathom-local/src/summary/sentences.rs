//! Splitting of a text into sentences with their positions and demands.
//!
//! Unicode's rules do most of it, including Chinese and Japanese full stops. Added here is what they do not
//! cover: wrapped lines, list items, abbreviations, and endless sentences.

use std::borrow::Cow;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation as _;

/// Maximum size of a sentence. A longer one is cut after a clause, or else between words: about as much as the
/// embedding model reads.
pub const SENTENCE_BYTES_MAX: usize = 1200;

/// Number of columns from which a line without a full stop counts as wrapped and not as ended.
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

/// Words before a full stop that does not end a sentence.
const ABBREVIATIONS: &[&str] = &[
    "abs", "approx", "art", "bspw", "bzw", "ca", "cf", "d.h", "dr", "e.g", "evtl", "fig", "ggf",
    "i.e", "jr", "mr", "mrs", "ms", "nr", "prof", "sog", "sr", "st", "u.a", "vgl", "vol", "vs",
    "z.b",
];

/// Demand of a sentence; stronger demands come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SentenceKind {
    /// It states what must be, or must not be.
    Rule,
    /// It contains a number.
    Figure,
    /// Anything else.
    Plain,
}

/// A sentence in its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentenceSpan<'a> {
    /// Its text, without the space around it.
    pub text: &'a str,
    /// Byte position in the source.
    pub start: usize,
    pub kind: SentenceKind,
}

impl SentenceSpan<'_> {
    /// Its byte range in the source.
    pub fn range(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }
}

/// The sentences of a text, in order. Text without a letter or digit is not a sentence, unless there is nothing
/// else.
pub fn split(text: &str) -> Vec<SentenceSpan<'_>> {
    let mut sentences = Vec::new();
    let mut rest = Vec::new();
    for block in blocks(text) {
        for range in within(text, block) {
            for piece in pieces(text, range) {
                let sentence = SentenceSpan {
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

/// Ranges that sentences do not cross: paragraphs, items, headings, lines that were ended and not wrapped.
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

/// Size of the marker of a list item: `-`, `*`, `•`, `3.`, `(b)`.
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

/// The sentences of a block by Unicode's rules; those separated by an abbreviation or a marker are joined
/// again.
fn within(text: &str, block: Range<usize>) -> Vec<Range<usize>> {
    let original = &text[block.clone()];
    // A wrapped line continues its sentence; both line ends have one byte, like a space.
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

/// True if a full stop does not end the sentence.
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

/// A sentence without the space around it, or several parts of one that is too long.
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

/// Position at which to cut a long sentence: after the last clause in the second half of the limit, else before
/// the last space, else after the word that alone is too long.
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

fn kind(sentence: &str) -> SentenceKind {
    let body = &sentence[marker_length(sentence)..];
    let rule = body.unicode_words().any(|word| {
        let word = word.to_lowercase();
        RULE_WORDS.contains(&word.as_str()) || word.ends_with("n't") || word.ends_with("n’t")
    });
    if rule {
        SentenceKind::Rule
    } else if body.contains(char::is_numeric) {
        SentenceKind::Figure
    } else {
        SentenceKind::Plain
    }
}

/// Wording shared by equal sentences: case, space and the marker of an item do not count.
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
