//! The head of a Markdown file: a small part of YAML, read into the tables that TOML is read into.

use std::borrow::Cow;
use std::ops::Range;

use granit_parser::{Event, Options, Parser, ScalarStyle, ScanError, StrInput};
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::limits;

/// Reason why a head cannot be read, with its place.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FrontMatterError {
    pub(super) at: Range<usize>,
    pub(super) why: String,
}

impl FrontMatterError {
    fn new(at: Range<usize>, why: &str) -> Self {
        let why = why.to_owned();
        Self { at, why }
    }
}

impl From<ScanError> for FrontMatterError {
    fn from(error: ScanError) -> Self {
        let at = error.marker().byte_offset().unwrap_or_default();
        let why = error.info();
        Self::new(at..at, why.lines().next().unwrap_or_default())
    }
}

/// Reads one document of keys and values. An anchor, an alias or a tag is refused, and so is a key that is there
/// twice: a head says what it says in the place where it says it.
pub(super) fn table(yaml: &str) -> Result<Spanned<DeTable<'_>>, FrontMatterError> {
    if yaml.len() > limits::HEAD_BYTES_MAX {
        let why = format!("front matter exceeds {} bytes", limits::HEAD_BYTES_MAX);
        return Err(FrontMatterError::new(0..0, &why));
    }
    let mut options = Options::default();
    options.disallow_directives = true;
    // Aliases are refused below. Resolved ones could expand a few bytes to gigabytes.
    options.emit_unresolved_aliases = true;
    options.flow_nesting_limit = limits::HEAD_NESTING_MAX;
    options.block_nesting_limit = limits::HEAD_NESTING_MAX;
    let mut reader = YamlReader {
        events: Parser::new_from_str_with_options(yaml, options),
    };
    let mut table = None;
    loop {
        let (event, at) = reader.next()?;
        match event {
            Event::StreamStart | Event::DocumentStart(..) | Event::DocumentEnd => {}
            Event::StreamEnd => break,
            _ if table.is_some() => {
                return Err(FrontMatterError::new(
                    at,
                    "front matter must be a single YAML document",
                ));
            }
            event => {
                let value = reader.value(event, at)?;
                let span = value.span();
                let DeValue::Table(read) = value.into_inner() else {
                    return Err(FrontMatterError::new(
                        span,
                        "front matter must consist of lines `key: value`",
                    ));
                };
                table = Some(Spanned::new(span, read));
            }
        }
    }
    Ok(table.unwrap_or_else(|| Spanned::new(0..0, DeTable::new())))
}

struct YamlReader<'a> {
    events: Parser<'a, StrInput<'a>>,
}

impl<'a> YamlReader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Range<usize>), FrontMatterError> {
        let (event, span) = self.events.next().unwrap_or_else(|| {
            let nowhere = granit_parser::Span::default();
            Ok((Event::StreamEnd, nowhere))
        })?;
        Ok((event, span.byte_range().unwrap_or_default()))
    }

    /// The value that begins with this event. It goes no deeper than the parser does.
    fn value(
        &mut self,
        event: Event<'a>,
        at: Range<usize>,
    ) -> Result<Spanned<DeValue<'a>>, FrontMatterError> {
        match event {
            // Only words without quotes may be numbers or booleans; `"1.0"` in quotes stays a text.
            Event::Scalar(text, ScalarStyle::Plain, 0, None) => Ok(Spanned::new(at, plain(text))),
            Event::Scalar(text, _, 0, None) => Ok(Spanned::new(at, DeValue::String(text))),
            Event::SequenceStart(_, 0, None) => self.list(at),
            Event::MappingStart(_, 0, None) => self.entries(at),
            _ => {
                let why =
                    "anchors, aliases and tags (`&`, `*`, `!`) are not allowed in front matter";
                Err(FrontMatterError::new(at, why))
            }
        }
    }

    fn list(&mut self, mut span: Range<usize>) -> Result<Spanned<DeValue<'a>>, FrontMatterError> {
        let mut list = DeArray::new();
        loop {
            let (event, at) = self.next()?;
            if event == Event::SequenceEnd {
                return Ok(Spanned::new(up_to(&span, &at), DeValue::Array(list)));
            }
            let value = self.value(event, at)?;
            span.end = span.end.max(value.span().end);
            list.push(value);
        }
    }

    fn entries(
        &mut self,
        mut span: Range<usize>,
    ) -> Result<Spanned<DeValue<'a>>, FrontMatterError> {
        let mut table = DeTable::new();
        loop {
            let (event, at) = self.next()?;
            let key = match event {
                Event::MappingEnd => {
                    return Ok(Spanned::new(up_to(&span, &at), DeValue::Table(table)));
                }
                Event::Scalar(key, _, 0, None) => Spanned::new(at.clone(), key),
                _ => return Err(FrontMatterError::new(at, "a key must be a single word")),
            };
            // The parser accepts duplicates, and the last one would win without a word.
            if table.contains_key(key.get_ref().as_ref()) {
                return Err(FrontMatterError::new(at, "duplicate key"));
            }
            let (event, at) = self.next()?;
            let mut value = self.value(event, at)?;
            if value.span().is_empty() {
                // Nothing has no place of its own.
                value = Spanned::new(key.span(), value.into_inner());
            }
            span.end = span.end.max(value.span().end);
            table.insert(key, value);
        }
    }
}

/// A span with the bracket that closes it. The end of what has none lies past the line breaks that follow.
fn up_to(span: &Range<usize>, bracket: &Range<usize>) -> Range<usize> {
    let end = if bracket.is_empty() {
        span.end
    } else {
        bracket.end
    };
    span.start..end
}

/// Value of an unquoted word: null, a boolean, a number, else text. Null counts as an empty text.
fn plain(word: Cow<'_, str>) -> DeValue<'_> {
    match word {
        Cow::Borrowed("~" | "null" | "Null" | "NULL") => DeValue::String(Cow::default()),
        Cow::Borrowed("true" | "True" | "TRUE") => DeValue::Boolean(true),
        Cow::Borrowed("false" | "False" | "FALSE") => DeValue::Boolean(false),
        Cow::Borrowed(one_line) => number(one_line).unwrap_or(DeValue::String(word)),
        Cow::Owned(_) => DeValue::String(word),
    }
}

/// A number, which YAML writes as TOML does.
fn number(word: &str) -> Option<DeValue<'_>> {
    let begins = word.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+');
    let goes_on = |c: char| c.is_ascii_alphanumeric() || "+-._".contains(c);
    if !begins || !word.chars().all(goes_on) {
        return None;
    }
    // Numbers are read as in TOML, so that a value means the same in both kinds of file: `0755` is not octal.
    let value = DeValue::parse(word).ok()?.into_inner();
    matches!(value, DeValue::Integer(_) | DeValue::Float(_)).then_some(value)
}
