//! The text of one file, read strictly and with all its complaints at once.

use std::collections::BTreeSet;
use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer};

use super::deprecated::{self, DEPRECATED};
use super::findings::{FindingList, SourceLocation};
use super::front_matter::{self, FrontMatterError};
use super::limits;
use super::problem::CharterProblem;
use super::version::PROTOCOL;
use crate::config::limit_tables::{TableError, TableErrorKind};

/// Characters of a line that are shown.
const EXCERPT_CHARS_MAX: usize = 96;

/// Characters that stay to the left of a place far into a line.
const EXCERPT_CHARS_BEFORE: usize = 32;

/// Maximum number of edits between a word and the one suggested for it.
// With more edits, keys of usual length resemble each other.
const NEAR_EDITS_MAX: usize = 2;

/// A file, and the part of it that has keys and values.
#[derive(Clone, Debug)]
pub(super) struct CharterSource<'a> {
    pub(super) file: &'a str,
    pub(super) text: &'a str,
    /// All of a `.toml` file, the head of a Markdown file.
    pub(super) keyed: Range<usize>,
}

/// Contents of a file, and the keys that findings exclude from it.
#[derive(Debug)]
pub(super) struct ParsedSource<T> {
    pub(super) value: T,
    pub(super) dropped: DroppedKeys,
}

/// Keys that were left out, as `table.key`.
#[derive(Debug, Default)]
pub(super) struct DroppedKeys(BTreeSet<String>);

impl DroppedKeys {
    /// True if the file has this key.
    pub(super) fn has(&self, key: &str) -> bool {
        self.0.contains(key)
    }
}

impl<'a> CharterSource<'a> {
    /// A file that is TOML throughout.
    pub(super) fn whole(file: &'a str, text: &'a str) -> Self {
        let keyed = 0..text.len();
        Self { file, text, keyed }
    }

    /// Reads the TOML as a `T`. Problems go to `findings`; a key with a problem is left out and reading continues
    /// without it. `None` if the text is not TOML, or if there are too many problems.
    pub(super) fn read<T: DeserializeOwned + Default>(
        &self,
        findings: &mut FindingList,
    ) -> Option<ParsedSource<T>> {
        let toml = self.text.get(self.keyed.clone())?;
        let (document, errors) = DeTable::parse_recoverable(toml);
        if !errors.is_empty() {
            self.complain_about_syntax(&errors, findings);
            return None;
        }
        self.take(document, findings)
    }

    /// Reads the YAML of a head in the same way.
    pub(super) fn read_head<T: DeserializeOwned + Default>(
        &self,
        findings: &mut FindingList,
    ) -> Option<ParsedSource<T>> {
        match front_matter::table(self.text.get(self.keyed.clone())?) {
            Ok(document) => self.take(document, findings),
            Err(FrontMatterError { at, why }) => {
                self.problem(Some(&at), CharterProblem::FrontMatter { why }, findings);
                None
            }
        }
    }

    fn take<T: DeserializeOwned + Default>(
        &self,
        mut document: Spanned<DeTable<'_>>,
        findings: &mut FindingList,
    ) -> Option<ParsedSource<T>> {
        let renamed = deprecated::rename(document.get_mut(), self.file, DEPRECATED, PROTOCOL);
        for (span, flaw) in renamed {
            findings.warning(self.file, Some(self.place(&span)), flaw);
        }
        // serde stops at the first error. To report all, the wrong key is taken out and the file is read again.
        let mut dropped = DroppedKeys::default();
        for _ in 0..limits::FINDINGS_MAX {
            let error = match T::deserialize(Deserializer::from(document.clone())) {
                Ok(value) => return Some(ParsedSource { value, dropped }),
                Err(error) => error,
            };
            let span = error.span();
            let path = span
                .as_ref()
                .and_then(|span| prune(document.get_mut(), span));
            let key = path.as_ref().and_then(|path| path.last()).cloned();
            let flaw = flaw(error.message(), key.unwrap_or_default());
            self.problem(span.as_ref(), flaw, findings);
            // Without a place nothing can be taken out, so the next attempt would fail the same way.
            dropped.0.insert(path?.join("."));
        }
        None
    }

    /// One complaint a line: after the first the parser is only guessing.
    fn complain_about_syntax(&self, errors: &[toml::de::Error], findings: &mut FindingList) {
        let mut lines = BTreeSet::new();
        for error in errors {
            let span = error.span().unwrap_or_default();
            // The parser recovers within a line and complains again; only the first complaint helps.
            if lines.insert(self.place(&span).line) {
                let message = error.message().to_owned();
                self.problem(Some(&span), CharterProblem::Syntax { message }, findings);
            }
        }
    }

    /// Adds a problem at a span of the keyed part, or about the whole file.
    pub(super) fn problem(
        &self,
        span: Option<&Range<usize>>,
        flaw: CharterProblem,
        findings: &mut FindingList,
    ) {
        let place = span.map(|span| self.place(span));
        findings.problem(self.file, place, flaw);
    }

    /// Adds a value that does not mean anything.
    pub(super) fn bad<T>(
        &self,
        key: &str,
        value: &Spanned<T>,
        why: impl Into<String>,
        findings: &mut FindingList,
    ) {
        let flaw = CharterProblem::BadValue {
            key: key.to_owned(),
            why: why.into(),
        };
        self.problem(Some(&value.span()), flaw, findings);
    }

    /// The same of a value that may be a secret: it is not shown.
    pub(super) fn bad_secret(
        &self,
        key: &str,
        value: &Spanned<String>,
        why: &str,
        findings: &mut FindingList,
    ) {
        let mut place = self.place(&value.span());
        let is_meant = |at: usize| at >= place.before && at < place.before + place.width;
        let shown = place.excerpt.chars().enumerate();
        place.excerpt = shown
            .map(|(at, c)| if is_meant(at) { '*' } else { c })
            .collect();
        let flaw = CharterProblem::BadValue {
            key: key.to_owned(),
            why: why.to_owned(),
        };
        findings.problem(self.file, Some(place), flaw);
    }

    /// Adds what the shared tables found wrong.
    pub(super) fn all_wrong(&self, wrong: Vec<TableError>, findings: &mut FindingList) {
        for TableError { span, key, why } in wrong {
            let key = key.to_owned();
            let flaw = match why {
                TableErrorKind::OverCap { value, cap } => {
                    CharterProblem::OverCap { key, value, cap }
                }
                TableErrorKind::Senseless(why) => CharterProblem::BadValue { key, why },
            };
            self.problem(Some(&span), flaw, findings);
        }
    }

    /// The non-empty entries of a list. An empty entry and an entry too many are problems.
    pub(super) fn entries(
        &self,
        what: &'static str,
        list: Vec<Spanned<String>>,
        findings: &mut FindingList,
    ) -> Vec<String> {
        if let Some(first_over) = list.get(limits::LIST_MAX) {
            let count_max = limits::LIST_MAX;
            let flaw = CharterProblem::TooMany { what, count_max };
            self.problem(Some(&first_over.span()), flaw, findings);
        }
        let mut entries = Vec::new();
        for entry in list {
            if entry.get_ref().trim().is_empty() {
                let what = format!("an entry of `{what}`");
                self.problem(
                    Some(&entry.span()),
                    CharterProblem::Empty { what },
                    findings,
                );
            } else {
                entries.push(entry.get_ref().trim().to_owned());
            }
        }
        entries
    }

    /// Position where a span of the keyed part begins.
    pub(super) fn place(&self, span: &Range<usize>) -> SourceLocation {
        let start = self.keyed.start.saturating_add(span.start);
        let end = self.keyed.start.saturating_add(span.end);
        place(self.text, start..end)
    }
}

/// Position where a span of `text` begins.
pub(super) fn place(text: &str, span: Range<usize>) -> SourceLocation {
    // Spans come from parsers that count bytes and may end inside a character.
    let start = text.floor_char_boundary(span.start);
    let end = text.ceil_char_boundary(span.end).max(start);
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
    let before = text[line_start..start].chars().count();
    let meant = text[start..end.min(line_end)].chars().count();
    let skipped = if before + meant > EXCERPT_CHARS_MAX {
        before.saturating_sub(EXCERPT_CHARS_BEFORE)
    } else {
        0
    };
    let excerpt: String = text[line_start..line_end]
        .chars()
        .skip(skipped)
        .take(EXCERPT_CHARS_MAX)
        // An excerpt goes to a terminal, where control characters of a charter could rewrite the screen.
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let shown = excerpt.chars().count();
    let before_in_excerpt = before - skipped;
    SourceLocation {
        line: text[..line_start].matches('\n').count() + 1,
        column: before + 1,
        excerpt: excerpt.trim_end().to_owned(),
        before: before_in_excerpt,
        width: meant.min(shown.saturating_sub(before_in_excerpt)),
    }
}

/// Takes the entry that a complaint is about out of the table. Gives the keys that lead to it.
fn prune(table: &mut DeTable<'_>, span: &Range<usize>) -> Option<Vec<String>> {
    // A table under a header of its own lies outside its parent's span, so the search goes down first.
    for (key, value) in table.iter_mut() {
        let below = match value.get_mut() {
            DeValue::Table(below) => prune(below, span),
            DeValue::Array(list) => list.iter_mut().find_map(|entry| match entry.get_mut() {
                DeValue::Table(below) => prune(below, span),
                _ => None,
            }),
            _ => None,
        };
        if let Some(mut path) = below {
            path.insert(0, key.get_ref().clone().into_owned());
            return Some(path);
        }
    }
    let is_about = |of: Range<usize>| of.start <= span.start && span.end <= of.end;
    let found = table
        .iter()
        .find(|(key, value)| is_about(key.span()) || is_about(value.span()));
    let key = found.map(|(key, _)| key.get_ref().clone().into_owned())?;
    table.remove(key.as_str());
    Some(vec![key])
}

/// Converts serde's message to a problem.
fn flaw(message: &str, key: String) -> CharterProblem {
    let mut quoted = message.split('`').skip(1).step_by(2).map(str::to_owned);
    if message.starts_with("unknown field") {
        let key = quoted.next().unwrap_or(key);
        let known: Vec<String> = quoted.collect();
        let nearest = nearest(&key, &known);
        CharterProblem::UnknownKey {
            key,
            nearest,
            known,
        }
    } else if message.starts_with("unknown variant") {
        let word = quoted.next().unwrap_or_default();
        let known: Vec<String> = quoted.collect();
        unknown_word(word, known)
    } else {
        let message = plain_words(message.lines().next().unwrap_or_default());
        CharterProblem::WrongType { key, message }
    }
}

/// Serde's names of types in words that a user knows.
fn plain_words(message: &str) -> String {
    let message = message
        .strip_prefix("invalid type: ")
        .or_else(|| message.strip_prefix("invalid value: "))
        .unwrap_or(message);
    let Some((found, expected)) = message.rsplit_once(", expected ") else {
        return message.to_owned();
    };
    let expected = match expected {
        "u8" | "u16" | "u32" | "u64" => "a whole number in range",
        "f64" => "a number",
        "a sequence" => "a list",
        other if other.starts_with("struct ") || other == "a map" => "a table",
        other => other,
    };
    format!("expected {expected}, found {found}")
}

/// The problem of a word that is not in `known`.
pub(super) fn unknown_word(word: String, known: Vec<String>) -> CharterProblem {
    let nearest = nearest(&word, &known);
    CharterProblem::UnknownWord {
        word,
        nearest,
        known,
    }
}

/// The word of `known` that is most similar to `word`, if one is similar enough.
fn nearest(word: &str, known: &[String]) -> Option<String> {
    let close = known.iter().map(|other| (edits(word, other), other));
    let close = close.filter(|(edits, other)| match *edits {
        0 | 1 => other.len() > 1,
        // Two edits make one short word of any other; the first letter is rarely the wrong one.
        many => many <= NEAR_EDITS_MAX && word.chars().next() == other.chars().next(),
    });
    close.min().map(|(_, other)| other.clone())
}

/// Letters to put in, take out or change to make one word of another.
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    // The table below is quadratic, and a longer word is no misspelt key.
    if from.len() > limits::NAME_CHARS_MAX {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (b, cell) in to.iter().zip(row.iter_mut().skip(1)) {
            let changed = diagonal + usize::from(a != *b);
            diagonal = *cell;
            left = changed.min(left + 1).min(*cell + 1);
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}
