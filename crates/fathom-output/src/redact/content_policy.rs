//! The content policy: phrases and patterns given by people, each with a reason.

use std::sync::Arc;

use aho_corasick::{AhoCorasick, MatchKind};
use regex::{Regex, RegexBuilder};

use super::draft::{Replacement, mark, resolve};
use super::entity::{RedactAction, SpanKind};
use super::error::RedactError;
use super::rules::PolicyRule;

/// Maximum size of a compiled pattern.
const PATTERN_BYTES_MAX: usize = 1 << 20;

#[derive(Debug)]
struct ContentRule {
    kind: SpanKind,
    action: RedactAction,
}

/// The compiled rules of a content policy.
#[derive(Debug)]
pub(super) struct ContentPolicy {
    rules: Vec<ContentRule>,
    phrases: AhoCorasick,
    /// The rule of each phrase.
    owners: Vec<usize>,
    patterns: Vec<(Regex, usize)>,
}

impl ContentPolicy {
    pub(super) fn new(policy: &[PolicyRule]) -> Result<Self, RedactError> {
        let syntax = |what: String| RedactError::Syntax { what };
        let (mut rules, mut owners) = (Vec::new(), Vec::new());
        let (mut phrases, mut patterns) = (Vec::new(), Vec::new());
        for rule in policy
            .iter()
            .filter(|rule| rule.action != RedactAction::Keep)
        {
            let place = rules.len();
            rules.push(ContentRule {
                kind: SpanKind::Policy {
                    rule: Arc::from(rule.id.as_str()),
                    reason: Arc::from(rule.reason.as_str()),
                },
                action: rule.action,
            });
            for phrase in &rule.phrases {
                phrases.push(phrase.trim());
                owners.push(place);
            }
            for text in &rule.patterns {
                patterns.push((pattern(&rule.id, text)?, place));
            }
        }
        Ok(Self {
            rules,
            phrases: AhoCorasick::builder()
                .ascii_case_insensitive(true)
                .match_kind(MatchKind::LeftmostLongest)
                .build(&phrases)
                .map_err(|error| syntax(error.to_string()))?,
            owners,
            patterns,
        })
    }

    /// The edits to a text.
    pub(super) fn edits(&self, text: &str) -> Vec<Replacement> {
        let mut edits = Vec::new();
        for phrase in self.phrases.find_iter(text) {
            if is_apart(text, phrase.start(), phrase.end()) {
                let owner = self.owners[phrase.pattern().as_usize()];
                edits.push(self.edit(owner, phrase.start(), phrase.end()));
            }
        }
        // Each pattern searches for its required prefix first: a set of patterns would look at every byte.
        for (pattern, owner) in &self.patterns {
            let found = pattern.find_iter(text).filter(|found| !found.is_empty());
            edits.extend(found.map(|found| self.edit(*owner, found.start(), found.end())));
        }
        resolve(edits)
    }

    fn edit(&self, owner: usize, start: usize, end: usize) -> Replacement {
        let ContentRule { kind, action } = &self.rules[owner];
        Replacement {
            start,
            end,
            text: match action {
                RedactAction::Drop => String::new(),
                _ => mark(kind),
            },
            kind: kind.clone(),
            action: *action,
        }
    }
}

/// True if no letter or digit is directly beside a match.
pub(super) fn is_apart(text: &str, start: usize, end: usize) -> bool {
    let before = text[..start].chars().next_back();
    let after = text[end..].chars().next();
    !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
}

fn pattern(rule: &str, text: &str) -> Result<Regex, RedactError> {
    let refused = |what: String| RedactError::Pattern {
        rule: rule.to_owned(),
        pattern: text.to_owned(),
        what,
    };
    let pattern = RegexBuilder::new(text)
        .size_limit(PATTERN_BYTES_MAX)
        .build()
        .map_err(|error| refused(error.to_string()))?;
    // An empty match is everywhere.
    if pattern.is_match("") {
        return Err(refused("it matches the empty text".to_owned()));
    }
    Ok(pattern)
}
