//! Profanity: whole words of a list, with or without an ending, also if digits and signs replace letters.

use std::collections::BTreeSet;

use aho_corasick::automaton::{Automaton as _, StateID};
use aho_corasick::dfa::DFA;
use aho_corasick::{Anchored, Input, MatchKind};

use super::draft::{Replacement, mark, resolve};
use super::entity::{RedactAction, SpanKind};
use super::error::RedactError;
use super::rules;

/// Minimum length of a word that may be written with signs: `a55` is a motorway.
const SIGNS_BYTES_MIN: usize = 4;
/// Endings that do not change a word.
const ENDINGS: [&str; 12] = [
    "s", "es", "ed", "er", "ers", "in", "ing", "ings", "y", "ty", "ter", "head",
];

/// Letter for each byte; one byte becomes one byte, so that positions stay the same.
const FOLDED: [u8; 256] = {
    let mut folded = [0; 256];
    let mut byte = 0_u8;
    loop {
        folded[byte as usize] = match byte {
            b'4' | b'@' => b'a',
            b'8' => b'b',
            b'3' => b'e',
            b'1' | b'!' => b'i',
            b'0' => b'o',
            b'$' | b'5' => b's',
            b'7' | b'+' => b't',
            other => other.to_ascii_lowercase(),
        };
        if byte == u8::MAX {
            break;
        }
        byte += 1;
    }
    folded
};

/// The compiled list.
#[derive(Debug)]
pub(super) struct ProfanityFilter {
    words: DFA,
    /// Start state of the automaton.
    begin: StateID,
    action: RedactAction,
    allow: BTreeSet<String>,
}

impl ProfanityFilter {
    /// Compiles the list; `None` if the filter is off.
    pub(super) fn new(rules: &rules::ProfanityRules) -> Result<Option<Self>, RedactError> {
        if !rules.enabled || rules.action == RedactAction::Keep {
            return Ok(None);
        }
        let syntax = |what: String| RedactError::Syntax { what };
        let words = DFA::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(rules.words.iter().map(|word| word.to_lowercase()))
            .map_err(|error| syntax(error.to_string()))?;
        let begin = words
            .start_state(Anchored::No)
            .map_err(|error| syntax(error.to_string()))?;
        Ok(Some(Self {
            words,
            begin,
            action: rules.action,
            allow: rules.allow.iter().map(|word| word.to_lowercase()).collect(),
        }))
    }

    /// The edits to a text.
    pub(super) fn edits(&self, text: &str) -> Vec<Replacement> {
        let mut edits = Vec::new();
        if !self.any(text) {
            return edits;
        }
        let folded: Vec<u8> = text.bytes().map(|byte| FOLDED[usize::from(byte)]).collect();
        let Ok(words) = self.words.try_find_iter(Input::new(&folded)) else {
            return edits;
        };
        for found in words {
            let Some((start, end)) = whole_word(text, &folded, found.start(), found.end()) else {
                continue;
            };
            if self.allow.contains(&text[start..end].to_lowercase()) {
                continue;
            }
            edits.push(Replacement {
                start,
                end,
                text: match self.action {
                    RedactAction::Drop => String::new(),
                    _ => mark(&SpanKind::Profanity),
                },
                kind: SpanKind::Profanity,
                action: self.action,
            });
        }
        resolve(edits)
    }

    /// True if any word of the list occurs: most texts contain none and need no folded copy.
    fn any(&self, text: &str) -> bool {
        let mut state = self.begin;
        text.bytes().any(|byte| {
            let folded = FOLDED[usize::from(byte)];
            state = self.words.next_state(Anchored::No, state, folded);
            self.words.is_match(state)
        })
    }
}

/// The word around a match, if the match is the whole word except for an ending.
fn whole_word(text: &str, folded: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let own = &text.as_bytes()[start..end];
    let signs = own
        .iter()
        .filter(|byte| !byte.is_ascii_alphabetic() && byte.is_ascii())
        .count();
    if signs > own.len() / 2 || (signs > 0 && own.len() < SIGNS_BYTES_MIN) {
        return None;
    }
    if text[..start]
        .chars()
        .next_back()
        .is_some_and(char::is_alphanumeric)
    {
        return None;
    }
    let tail = folded[end..]
        .iter()
        .take(8)
        .take_while(|byte| byte.is_ascii_lowercase())
        .count();
    // A sign after the word may be the end of its sentence.
    let spoken = text.as_bytes()[end..end + tail]
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric())
        .count();
    let ending = std::str::from_utf8(&folded[end..end + spoken]).ok()?;
    let after = text.get(end + spoken..)?.chars().next();
    let doubled = ending
        .strip_prefix(char::from(folded[end - 1]))
        .is_some_and(|rest| ENDINGS.contains(&rest));
    let ends = ending.is_empty() || ENDINGS.contains(&ending) || doubled;
    (ends && !after.is_some_and(char::is_alphanumeric)).then_some((start, end + spoken))
}

#[cfg(test)]
#[path = "profanity_tests.rs"]
mod tests;
