//! Secrets: keys of services by prefix, values after words such as `password:`, web tokens, private keys.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::{EntityKind, TextScan};

/// Maximum size of a mark before or after a private key.
pub(in crate::redact) const KEY_MARK_BYTES_MAX: usize = 64;
/// Size of a value's beginning that decides about it. The rest follows the decision.
const VALUE_BYTES_MAX: usize = 512;
/// Minimum entropy per character in bits: below it is a word or a placeholder.
const KEY_ENTROPY_MIN: f64 = 2.5;
const VALUE_ENTROPY_MIN: f64 = 2.8;
const PASSWORD_ENTROPY_MIN: f64 = 1.5;
const VALUE_BYTES_MIN: usize = 16;
const PASSWORD_BYTES_MIN: usize = 6;
/// Placeholders for secrets.
const PLACEHOLDERS: [&str; 12] = [
    "your",
    "example",
    "changeme",
    "placeholder",
    "redacted",
    "dummy",
    "sample",
    "xxxx",
    "none",
    "null",
    "env.",
    "environ",
];

impl TextScan<'_> {
    /// A key of a service, from its prefix.
    pub(super) fn service_key(&mut self, which: usize, start: usize) {
        let rules = self.rules;
        let form = &rules.services[which];
        let body = start + form.prefix.len();
        if !self.text[start..].starts_with(&form.prefix)
            || self.joined_before(start)
            || start < self.key_until
        {
            return;
        }
        let [least, most] = form.length;
        let mut length = self.bytes[body..]
            .iter()
            .take(most + 1)
            .take_while(|byte| form.alphabet.has(**byte))
            .count();
        self.count(length);
        let is_key = |bytes: &[u8]| entropy(bytes) >= KEY_ENTROPY_MIN;
        if length > most && is_key(&self.bytes[body..body + length]) {
            // More than a key in one piece: its end within the piece is unknown.
            length += self.count_while(body + length, |byte| form.alphabet.has(byte));
            self.key_until = body + length;
        }
        // The end of a sentence is not part of a key.
        while length > 0 && matches!(self.bytes[body + length - 1], b'.') {
            length -= 1;
        }
        let end = body + length;
        if length >= least && is_key(&self.bytes[body..end.min(body + most)]) {
            self.push(EntityKind::Secret, start, end);
        }
    }

    /// Number of consecutive bytes that fulfil a condition.
    fn count_while(&mut self, from: usize, is_so: impl Fn(u8) -> bool) -> usize {
        let rest = self.bytes[from..].iter();
        let length = rest.take_while(|byte| is_so(**byte)).count();
        self.count(length);
        length
    }

    /// A web token: three base64 parts, the first of which is a JSON object.
    pub(super) fn jwt(&mut self, start: usize) {
        if start < self.jwt_until
            || self.joined_before(start)
            || !self.text[start..].starts_with("eyJ")
        {
            return;
        }
        let mut end = start;
        let mut parts = [0_usize; 3];
        for part in &mut parts {
            let length = self.bytes[end..]
                .iter()
                .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
                .count();
            *part = length;
            end += length;
            if self.byte(end) != Some(b'.') {
                break;
            }
            end += 1;
        }
        self.count(end - start);
        self.jwt_until = end;
        if end > start && self.bytes[end - 1] == b'.' && parts[2] > 0 {
            end -= 1;
        }
        if parts[0] >= 10 && parts[1] >= 8 && parts[2] >= 8 {
            self.push(EntityKind::Jwt, start, end);
        }
    }

    /// The value after a word such as `api_key`, if it is one.
    pub(super) fn assignment(&mut self, entity: EntityKind, word: usize, word_end: usize) {
        // A word inside a value is part of it.
        if word < self.value_until {
            return;
        }
        let spaced = self.text[word..word_end].eq_ignore_ascii_case("bearer")
            || self.bytes[..word].ends_with(b"--");
        let Some((start, quote)) = self.value_start(entity, word_end, spaced) else {
            return;
        };
        let ends = |byte: u8| match quote {
            Some(quote) => byte == quote,
            None => {
                byte.is_ascii_whitespace()
                    || matches!(
                        byte,
                        b'"' | b'\''
                            | b'`'
                            | b','
                            | b';'
                            | b'<'
                            | b'>'
                            | b'|'
                            | b'&'
                            | b')'
                            | b']'
                            | b'}'
                    )
            }
        };
        let length = self.bytes[start..]
            .iter()
            .take(VALUE_BYTES_MAX)
            .take_while(|byte| !ends(**byte))
            .count();
        self.count(length);
        let mut end = start + length;
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let bytes = self.bytes;
        let trimmed = |mut end: usize| {
            while quote.is_none()
                && end > start
                && matches!(bytes[end - 1], b'.' | b':' | b'?' | b'\\')
            {
                end -= 1;
            }
            end
        };
        let value = &self.text[start..trimmed(end)];
        let plausible = match entity {
            EntityKind::Password => is_password(value),
            _ => is_key(value),
        };
        if plausible {
            if length == VALUE_BYTES_MAX {
                // The examined part is the beginning of one piece.
                end += self.count_while(end, |byte| !ends(byte) && !byte.is_ascii_whitespace());
            }
            let end = trimmed(end);
            self.value_until = end;
            self.push(entity, start, end);
        }
    }

    /// Start of a value after its word, and its quote character.
    fn value_start(
        &self,
        entity: EntityKind,
        word_end: usize,
        spaced: bool,
    ) -> Option<(usize, Option<u8>)> {
        let mut at = word_end;
        while matches!(self.byte(at), Some(b'"' | b'\'' | b'`' | b'*' | b'\\')) && at < word_end + 3
        {
            at += 1;
        }
        let blanks = |at: usize| {
            at + self.bytes[at..]
                .iter()
                .take(4)
                .take_while(|byte| matches!(byte, b' ' | b'\t'))
                .count()
        };
        let sign = blanks(at);
        let rest = &self.bytes[sign..];
        // The last one is an attribute beside that of the word.
        let signs: usize = ["=>", ":=", "==", "=", ":", "：", "value="]
            .iter()
            .find(|sign| rest.starts_with(sign.as_bytes()))
            .map_or(0, |sign| sign.len());
        let tag = usize::from(sign == word_end && rest.starts_with(b">"));
        let signs = signs.max(tag);
        let said = if entity == EntityKind::Password && sign > at {
            [b"is ".as_slice(), b"was "]
                .iter()
                .find(|word| rest.starts_with(word))
                .map_or(0, |word| word.len())
        } else {
            0
        };
        if signs + said == 0 && !(spaced && sign > at) {
            return None;
        }
        let mut start = blanks(sign + signs + said);
        if self.bytes[start..].starts_with(b"\\") {
            start += 1;
        }
        // A heading in bold, such as `**Password:** …`.
        while self.bytes[start..].starts_with(b"*") {
            start = blanks(start + 1);
        }
        let quote = self
            .byte(start)
            .filter(|byte| matches!(byte, b'"' | b'\'' | b'`'));
        Some((start + usize::from(quote.is_some()), quote))
    }
}

static KEY_BEGIN: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"-----BEGIN "));

/// Start of a private key in a text.
pub(in crate::redact) fn key_begin(text: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(found) = KEY_BEGIN.find(&text.as_bytes()[from..]) {
        let begin = from + found;
        let label = &text.as_bytes()[begin + 11..];
        let label = &label[..label.len().min(KEY_MARK_BYTES_MAX)];
        if let Some(end) = memchr::memmem::find(label, b"-----")
            && memchr::memmem::find(&label[..end], b"PRIVATE KEY").is_some()
        {
            return Some(begin);
        }
        from = begin + 11;
    }
    None
}

/// End of a private key in a text, after its end mark.
pub(in crate::redact) fn key_end_mark(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let begin = memchr::memmem::find(bytes, b"-----END ")? + 9;
    let label = &bytes[begin..bytes.len().min(begin + KEY_MARK_BYTES_MAX)];
    memchr::memmem::find(label, b"-----").map(|end| begin + end + 5)
}

/// Size of a key without end mark: its start mark and the base64 after it.
pub(in crate::redact) fn unfinished_key(text: &str) -> usize {
    const LINE_BYTES_MIN: usize = 16;
    let mark = text[11..]
        .find("-----")
        .map_or(text.len(), |end| 11 + end + 5);
    let mut end = mark;
    let mut at = mark;
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        let gap = rest
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace() || **byte == b'\\')
            .count();
        // In JSON a line ends with a backslash and a letter.
        let escaped = usize::from(
            gap > 0 && rest[gap - 1] == b'\\' && matches!(rest.get(gap), Some(b'n' | b'r')),
        );
        let begin = gap + escaped;
        let length = rest[begin..]
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='))
            .count();
        if length < LINE_BYTES_MIN {
            break;
        }
        at += begin + length;
        end = at;
    }
    end
}

/// True if a value can be a key: long, of many different characters, with a digit.
fn is_key(value: &str) -> bool {
    value.len() >= VALUE_BYTES_MIN
        && value
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_./+=~:".contains(&byte))
        && (value.bytes().any(|byte| byte.is_ascii_digit()) || is_mixed(value.as_bytes()))
        && !is_placeholder(value)
        && !value.contains("://")
        && entropy(value.as_bytes()) >= VALUE_ENTROPY_MIN
}

/// True if upper- and lower-case letters alternate more than in words and identifiers.
fn is_mixed(value: &[u8]) -> bool {
    const EACH_MIN: usize = 3;
    let pairs = |first: fn(&u8) -> bool| {
        value
            .windows(2)
            .filter(|pair| first(&pair[0]) && pair[1].is_ascii_uppercase())
            .count()
    };
    pairs(u8::is_ascii_uppercase) >= EACH_MIN && pairs(u8::is_ascii_lowercase) >= EACH_MIN
}

/// True if a value can be a password: neither a word nor part of code.
fn is_password(value: &str) -> bool {
    let has = |class: fn(&u8) -> bool| value.as_bytes().iter().any(class);
    let sign = |byte: &u8| byte.is_ascii_punctuation() && !b"-_./".contains(byte);
    let classes = usize::from(has(u8::is_ascii_lowercase))
        + usize::from(has(u8::is_ascii_uppercase))
        + usize::from(has(u8::is_ascii_digit))
        + usize::from(has(sign));
    let digits_only = value.bytes().all(|byte| byte.is_ascii_digit());
    let capitalised = value
        .bytes()
        .skip(1)
        .all(|byte| byte.is_ascii_lowercase() || byte == b'!');
    value.len() >= PASSWORD_BYTES_MIN
        && (classes >= 2 || digits_only)
        && !capitalised
        // A function call, cut at its bracket.
        && !value.ends_with('(')
        && !is_placeholder(value)
        && entropy(value.as_bytes()) >= PASSWORD_ENTROPY_MIN
}

fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    value.starts_with(['[', '<', '$', '{', '*', '%', '('])
        || PLACEHOLDERS.iter().any(|word| lower.contains(word))
}

/// Entropy in bits per byte, by frequency.
fn entropy(bytes: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for &byte in bytes {
        counts[usize::from(byte)] += 1;
    }
    let total = f64::from(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
    counts
        .iter()
        .filter(|&&count| count > 0)
        .map(|&count| {
            let share = f64::from(count) / total;
            -share * share.log2()
        })
        .sum()
}
