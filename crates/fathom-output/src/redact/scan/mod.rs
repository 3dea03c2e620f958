//! Finds personal data and secrets in one segment of a text.
//!
//! One automaton finds the words: context words, prefixes of keys, `://`. One pass over the tokens (runs of
//! letters and digits) looks at their characters, and only possible matches are examined further. Nothing is
//! examined more than a fixed number of times, so the work grows linearly with the text.

mod addresses;
mod codes;
mod dates;
mod numbers;
mod phones;
mod secrets;

use std::collections::BTreeSet;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::entity::{EntityKind, PhoneRegion, RedactAction};
use super::error::RedactError;
use super::rules::{KeyAlphabet, RedactRules};

pub(super) use secrets::{KEY_MARK_BYTES_MAX, key_begin, key_end_mark, unfinished_key};

/// Maximum distance of a context word before a value, in bytes.
pub(super) const CONTEXT_BYTES: usize = 64;
/// Maximum distance of a context word after a value.
const CONTEXT_AFTER_BYTES: usize = 24;
/// Maximum size of a token that can be a number, a code or an address.
const TOKEN_BYTES_MAX: usize = 80;

/// Meaning of a word found by the automaton.
#[derive(Clone, Copy, Debug)]
enum WordSpan {
    /// Context word of an entity.
    Context(EntityKind),
    /// Prefix of a service's keys, by its index.
    Service(usize),
    Scheme,
    /// Start of a JSON web token.
    Jwt,
}

#[derive(Debug)]
struct KeyForm {
    prefix: String,
    alphabet: KeyAlphabet,
    length: [usize; 2],
}

/// Compiled rules.
#[derive(Debug)]
pub(super) struct RecogniserSet {
    words: AhoCorasick,
    meanings: Vec<WordSpan>,
    services: Vec<KeyForm>,
    regions: BTreeSet<PhoneRegion>,
    kept: Vec<EntityKind>,
}

impl RecogniserSet {
    pub(super) fn new(rules: &RedactRules) -> Result<Self, RedactError> {
        let mut patterns = vec!["://".to_owned(), "eyJ".to_owned()];
        let mut meanings = vec![WordSpan::Scheme, WordSpan::Jwt];
        for (entity, rule) in &rules.entities {
            if rule.action == RedactAction::Keep {
                continue;
            }
            for word in &rule.context {
                patterns.push(word.clone());
                meanings.push(WordSpan::Context(*entity));
            }
        }
        let mut services = Vec::new();
        for service in &rules.services {
            patterns.push(service.prefix.clone());
            meanings.push(WordSpan::Service(services.len()));
            services.push(KeyForm {
                prefix: service.prefix.clone(),
                alphabet: service.alphabet,
                length: service.length,
            });
        }
        let words = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::DFA))
            .build(&patterns)
            .map_err(|error| RedactError::Syntax {
                what: error.to_string(),
            })?;
        let kept = EntityKind::ALL
            .into_iter()
            .filter(|entity| rules.action(*entity) == RedactAction::Keep)
            .collect();
        Ok(Self {
            words,
            meanings,
            services,
            regions: rules.regions.clone(),
            kept,
        })
    }
}

/// A finding, by its position in the segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScanMatch {
    pub start: usize,
    pub end: usize,
    pub entity: EntityKind,
}

/// A context word. One at the end of an earlier segment has negative positions.
#[derive(Clone, Copy, Debug)]
struct RecogniserHit {
    entity: EntityKind,
    start: isize,
    end: isize,
}

/// The text before a segment, as far as it matters.
#[derive(Clone, Debug, Default)]
pub(super) struct PrecedingText {
    /// The last character.
    pub last: Option<char>,
    hits: Vec<RecogniserHit>,
}

impl PrecedingText {
    /// Advances by a segment that ends at `cut`.
    pub(super) fn advance(&mut self, segment: &str, cut: usize) {
        let cut_place = place(cut);
        self.hits
            .retain(|hit| hit.start < cut_place && hit.end > cut_place - place(CONTEXT_BYTES));
        for hit in &mut self.hits {
            hit.start -= cut_place;
            hit.end -= cut_place;
        }
        if let Some(last) = segment[..cut].chars().next_back() {
            self.last = Some(last);
        }
        // After an empty line a new topic starts.
        if segment[..cut].trim().is_empty() {
            self.hits.clear();
        }
    }
}

/// A position in a segment, which is never near the maximum.
fn place(bytes: usize) -> isize {
    isize::try_from(bytes).unwrap_or(isize::MAX)
}

/// The scan of one segment.
pub(super) struct TextScan<'a> {
    rules: &'a RecogniserSet,
    text: &'a str,
    bytes: &'a [u8],
    before: &'a mut PrecedingText,
    found: Vec<ScanMatch>,
    /// Ends of credentials inside addresses, in order.
    credential_ends: Vec<usize>,
    /// End of the range already searched for web tokens.
    jwt_until: usize,
    /// End of the range already examined as a value.
    value_until: usize,
    /// End of a key that is longer than its service's keys.
    key_until: usize,
    /// Number of bytes examined by our own loops.
    steps: u64,
}

const DIGIT: u8 = 1;
const LETTER: u8 = 2;
/// A letter that is also a hexadecimal digit.
const HEX: u8 = 4;
const AT: u8 = 8;
const COLON: u8 = 16;

/// Class of each byte.
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0_u8;
    loop {
        classes[byte as usize] = match byte {
            b'0'..=b'9' => DIGIT,
            b'a'..=b'f' | b'A'..=b'F' => LETTER | HEX,
            b'g'..=b'z' | b'G'..=b'Z' => LETTER,
            b'@' => AT,
            b':' => COLON,
            _ => 0,
        };
        if byte == u8::MAX {
            break;
        }
        byte += 1;
    }
    classes
};

impl<'a> TextScan<'a> {
    /// Finds everything in a segment, sorted and without overlaps.
    pub(super) fn run(
        rules: &'a RecogniserSet,
        before: &'a mut PrecedingText,
        text: &'a str,
    ) -> (Vec<ScanMatch>, u64) {
        let mut scan = Self {
            rules,
            text,
            bytes: text.as_bytes(),
            before,
            found: Vec::new(),
            credential_ends: Vec::new(),
            jwt_until: 0,
            value_until: 0,
            key_until: 0,
            steps: 0,
        };
        scan.words();
        let classes = scan
            .bytes
            .iter()
            .fold(0, |all, &byte| all | CLASSES[usize::from(byte)]);
        scan.count(2 * text.len());
        if classes & (DIGIT | AT | COLON) != 0 {
            scan.tokens();
        }
        if classes & DIGIT != 0 {
            scan.birth_dates();
        }
        if let Some(begin) = key_begin(text) {
            // A segment with a private key ends with the key.
            scan.push(EntityKind::PrivateKey, begin, text.len());
        }
        let steps = scan.steps;
        (without_overlaps(scan.found), steps)
    }

    fn count(&mut self, bytes: usize) {
        self.steps += bytes as u64;
    }

    fn words(&mut self) {
        for word in self.rules.words.find_overlapping_iter(self.text) {
            let (start, end) = (word.start(), word.end());
            match self.rules.meanings[word.pattern().as_usize()] {
                WordSpan::Context(entity) => {
                    if self.is_word(start, end) {
                        self.before.hits.push(RecogniserHit {
                            entity,
                            start: place(start),
                            end: place(end),
                        });
                        if matches!(entity, EntityKind::Secret | EntityKind::Password) {
                            self.assignment(entity, start, end);
                        }
                    }
                }
                WordSpan::Service(which) => self.service_key(which, start),
                WordSpan::Scheme => self.credentials(start, end),
                WordSpan::Jwt => self.jwt(start),
            }
        }
    }

    /// One pass over runs of letters and digits, and the signs between them.
    fn tokens(&mut self) {
        let mut at = 0;
        while at < self.bytes.len() {
            let class = CLASSES[usize::from(self.bytes[at])];
            if class & (DIGIT | LETTER) != 0 {
                let (end, classes) = self.token_end(at);
                at = self.token(at, end, classes).max(end);
            } else {
                if class == AT {
                    self.email(at);
                } else if class == COLON && self.byte(at + 1) == Some(b':') {
                    at = self.ip6(at).unwrap_or(at);
                }
                at += 1;
            }
        }
    }

    fn token_end(&self, start: usize) -> (usize, u8) {
        let mut end = start;
        let mut classes = 0;
        let mut all_hex = true;
        while let Some(&byte) = self.bytes.get(end) {
            let class = CLASSES[usize::from(byte)];
            if class & (DIGIT | LETTER) == 0 {
                break;
            }
            all_hex &= class & (DIGIT | HEX) != 0;
            classes |= class & (DIGIT | LETTER);
            end += 1;
        }
        (end, if all_hex { classes | HEX } else { classes })
    }

    /// Examines one token and returns the position at which to continue.
    fn token(&mut self, start: usize, end: usize, classes: u8) -> usize {
        self.count(end - start);
        if end - start > TOKEN_BYTES_MAX || self.joined_before(start) {
            return end;
        }
        let next = self.byte(end);
        if classes & HEX != 0 && matches!(next, Some(b':' | b'-' | b'.')) {
            if let Some(end) = self.mac(start, end) {
                return end;
            }
            if next == Some(b':')
                && let Some(end) = self.ip6(start)
            {
                return end;
            }
        }
        if self.joined_after(end) {
            return end;
        }
        let found = if classes & LETTER == 0 {
            self.number(start)
        } else if classes & DIGIT != 0 || matches!(end - start, 1 | 2) {
            self.mixed(start, end)
        } else {
            None
        };
        found.unwrap_or(end)
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    fn char_before(&self, at: usize) -> Option<char> {
        match at.checked_sub(1).and_then(|last| self.byte(last)) {
            Some(byte) if byte.is_ascii() => Some(char::from(byte)),
            Some(_) => self.text[..at].chars().next_back(),
            None => self.before.last,
        }
    }

    fn char_after(&self, at: usize) -> Option<char> {
        match self.byte(at) {
            Some(byte) if byte.is_ascii() => Some(char::from(byte)),
            Some(_) => self.text[at..].chars().next(),
            None => None,
        }
    }

    /// True if the token continues to the left: after `_` or a letter of any script.
    fn joined_before(&self, at: usize) -> bool {
        self.char_before(at).is_some_and(joins)
    }

    fn joined_after(&self, at: usize) -> bool {
        self.char_after(at).is_some_and(joins)
    }

    /// True if the match is a word of its own, or a part of a name such as `user_phone` or `phoneNumber`.
    fn is_word(&self, start: usize, end: usize) -> bool {
        let text = &self.text[start..end];
        let letters = |one: char, other: char| {
            one.is_alphabetic() && joins(one) && other.is_alphabetic() && joins(other)
        };
        let begins = match (self.char_before(start), text.chars().next()) {
            (Some(before), Some(first)) if letters(before, first) => {
                before.is_lowercase() && first.is_uppercase()
            }
            _ => true,
        };
        let ends = match (text.chars().next_back(), self.char_after(end)) {
            (Some(last), Some(after)) if letters(last, after) => {
                last.is_lowercase() && after.is_uppercase()
            }
            _ => true,
        };
        begins && ends
    }

    /// True if a context word of this entity is near.
    fn in_context(&self, entity: EntityKind, start: usize, end: usize) -> bool {
        let (start, end) = (place(start), place(end));
        self.hits_from(start - place(CONTEXT_BYTES))
            .iter()
            .take_while(|hit| hit.end <= end + place(CONTEXT_BYTES))
            .any(|hit| {
                hit.entity == entity
                    && (hit.end <= start
                        || (hit.start >= end && hit.start - end <= place(CONTEXT_AFTER_BYTES)))
            })
    }

    /// Words that end at or after a position. They are sorted by their ends.
    fn hits_from(&self, from: isize) -> &[RecogniserHit] {
        let hits = &self.before.hits;
        &hits[hits.partition_point(|hit| hit.end < from)..]
    }

    /// True if an ambiguous number may count: there is a context word, or its country is configured.
    fn expected(&self, entity: EntityKind, start: usize, end: usize) -> bool {
        entity
            .region()
            .is_some_and(|region| self.rules.regions.contains(&region))
            || self.in_context(entity, start, end)
    }

    fn push(&mut self, entity: EntityKind, start: usize, end: usize) {
        if !self.rules.kept.contains(&entity) {
            self.found.push(ScanMatch { start, end, entity });
        }
    }
}

/// True if a letter continues a token: in scripts without spaces a word can start anywhere.
fn joins(letter: char) -> bool {
    letter == '_' || (letter.is_alphanumeric() && !is_unspaced(letter))
}

/// Letters of scripts without spaces between words, or without spaces before endings.
fn is_unspaced(letter: char) -> bool {
    matches!(
        letter,
        '\u{e00}'..='\u{e7f}'
            | '\u{3040}'..='\u{30ff}'
            | '\u{3400}'..='\u{9fff}'
            | '\u{ac00}'..='\u{d7af}'
            | '\u{20000}'..='\u{3ffff}'
    )
}

/// Merges overlapping findings under the more specific name: nothing that was found is shown.
fn without_overlaps(mut found: Vec<ScanMatch>) -> Vec<ScanMatch> {
    found.sort_unstable_by_key(|found| (found.start, found.end));
    let mut kept: Vec<ScanMatch> = Vec::with_capacity(found.len());
    for next in found {
        match kept.last_mut() {
            Some(last) if next.start < last.end => {
                last.end = last.end.max(next.end);
                last.entity = last.entity.min(next.entity);
            }
            _ => kept.push(next),
        }
    }
    kept
}
