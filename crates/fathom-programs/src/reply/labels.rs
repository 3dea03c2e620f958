//! Labelled values in plain text: `VOTE: REJECT`, `**Confidence:** 80 %`, `2. REASONING: …`, and verdicts of one word.
//!
//! A label stands at the beginning of a line or of a sentence, so that `never answer VOTE: APPROVE` is none, and what
//! follows a vote must not take it back, so that `VOTE: APPROVE/REJECT/ABSTAIN` and `VOTE: APPROVE if …` are none.

use super::think_tags::after_thoughts;
use crate::council::Vote;
use crate::council::confidence::{self, ConfidenceError};
use fathom_core::unit::PerMille;

/// Meaning of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LabelValue {
    Vote(Vote),
    Confidence(Result<PerMille, ConfidenceError>),
    /// The number of a passage; 0 is none.
    Source(usize),
    /// The reason follows, up to the next label.
    Reasoning,
}

/// A label with its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LabelMatch {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) stated: LabelValue,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum VoteLabel {
    Vote,
    Confidence,
    Source,
    Reasoning,
}

const LABELS: [(&str, VoteLabel); 6] = [
    ("vote", VoteLabel::Vote),
    ("confidence", VoteLabel::Confidence),
    ("source", VoteLabel::Source),
    ("reasoning", VoteLabel::Reasoning),
    ("reason", VoteLabel::Reasoning),
    ("rationale", VoteLabel::Reasoning),
];

/// Words that may stand before `vote`: `My final vote: REJECT`.
const QUALIFIERS: [&str; 4] = ["my", "our", "the", "final"];

/// Words that may follow a vote directly: `VOTE: REJECT because …`.
const LEADS_ON: [&str; 9] = [
    "because", "since", "as", "due", "given", "for", "with", "the", "this",
];

/// Words that take a vote back even after a comma: `VOTE: APPROVE, if …`.
const TAKES_BACK: [&str; 8] = [
    "or", "and", "nor", "if", "unless", "only", "provided", "pending",
];

/// Marks that only make text look different.
const MARKUP: [char; 5] = ['*', '_', '`', ' ', '\t'];

const QUOTES: [char; 9] = ['"', '\'', '`', '“', '”', '‘', '’', '«', '»'];

/// The labels with a value, in their order.
pub(crate) fn all(text: &str) -> impl Iterator<Item = LabelMatch> {
    words(text).filter_map(|(start, word)| {
        let (_, label) = LABELS
            .iter()
            .find(|(name, _)| word.eq_ignore_ascii_case(name))?;
        let (before, rest) = text.split_at(start);
        let after = rest.get(word.len()..)?;
        let value = separated(before, after)?;
        if !may_stand(*label, before) {
            return None;
        }
        let (stated, end) = match label {
            VoteLabel::Vote => vote(value).map(|(vote, rest)| (LabelValue::Vote(vote), rest))?,
            VoteLabel::Confidence => confidence(value)?,
            VoteLabel::Source => source(value)?,
            VoteLabel::Reasoning => (LabelValue::Reasoning, value),
        };
        Some(LabelMatch {
            start,
            end: text.len() - end.len(),
            stated,
        })
    })
}

/// The vote in a line that is nothing else: `**REJECT**.`
pub(crate) fn alone(line: &str) -> Option<Vote> {
    let is_frame = |c: char| c.is_whitespace() || MARKUP.contains(&c) || QUOTES.contains(&c);
    let line = line.trim_matches(is_frame).trim_end_matches(['.', '!']);
    Vote::of(line.trim_matches(is_frame))
}

/// The value in the last line that is `name=value` or `name: value`, as a form has it that stages are held to.
pub(crate) fn last_value<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().rev().find_map(|line| {
        let (label, value) = line.split_once(['=', ':'])?;
        let label = label.trim().trim_start_matches(['-', '*', ' ']);
        label.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

/// A judge's verdict by the first word of the reply, whatever marks stand around it. Anything else
/// is no verdict, as is the choice itself (`PASS or FAIL`).
pub(crate) fn passes(reply: &str) -> Option<bool> {
    let said = after_thoughts(reply);
    let (at, word) = words(said).next()?;
    let verdict = verdict(word)?;
    let rest = said.get(at + word.len()..)?.trim_start_matches(MARKUP);
    let other = rest
        .strip_prefix(['/', '|'])
        .or_else(|| rest.strip_prefix("or "));
    let other = other.map_or("", |other| first_word(other.trim_start_matches(MARKUP)));
    (self::verdict(other) != Some(!verdict)).then_some(verdict)
}

fn verdict(word: &str) -> Option<bool> {
    match word.to_ascii_uppercase().as_str() {
        "PASS" | "PASSES" | "PASSED" => Some(true),
        "FAIL" | "FAILS" | "FAILED" | "FAILURE" => Some(false),
        _ => None,
    }
}

/// Runs of letters and digits with their places.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..)?;
        let start = at + rest.find(char::is_alphanumeric)?;
        let word = first_word(text.get(start..)?);
        at = start + word.len();
        Some((start, word))
    })
}

fn first_word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric());
    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}

fn last_word(text: &str) -> &str {
    let start = text.trim_end_matches(char::is_alphanumeric).len();
    text.get(start..).unwrap_or_default()
}

fn is_among(word: &str, words: &[&str]) -> bool {
    words.iter().any(|other| word.eq_ignore_ascii_case(other))
}

/// The text after a label and its separator.
fn separated<'a>(before: &str, after: &'a str) -> Option<&'a str> {
    let mut rest = after.trim_start_matches(MARKUP);
    if is_among(first_word(rest), &["level", "score"]) {
        rest = rest
            .get(first_word(rest).len()..)?
            .trim_start_matches(MARKUP);
    }
    if rest.len() < after.len() && first_word(rest).eq_ignore_ascii_case("is") {
        let value = rest.get("is".len()..)?.trim_start();
        return Some(value.strip_prefix(':').unwrap_or(value));
    }
    let mut chars = rest.chars();
    let separator = chars.next()?;
    let value = chars.as_str();
    let separates = match separator {
        ':' | '：' | '|' => true,
        '=' => !value.starts_with('='),
        '-' | '–' | '—' => value.starts_with(char::is_whitespace),
        // A heading, and the value in the next line.
        '\n' | '\r' => begins_line(before),
        '>' => before.ends_with('<') && rest.len() == after.len(),
        _ => false,
    };
    separates.then_some(value)
}

/// Splits off what is neither letter nor digit from the end of a text, as far as its line goes.
fn without_gap(before: &str) -> (&str, &str) {
    let head = before.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '\n');
    before.split_at(head.len())
}

fn is_line_start(head: &str) -> bool {
    head.is_empty() || head.ends_with('\n')
}

fn begins_line(before: &str) -> bool {
    let (head, gap) = without_gap(before);
    // `>` quotes somebody else.
    is_line_start(head) && !gap.contains('>')
}

/// True if a label may stand after the text before it.
fn may_stand(label: VoteLabel, before: &str) -> bool {
    if opens(before) {
        return true;
    }
    let (head, gap) = without_gap(before);
    match label {
        VoteLabel::Vote => {
            let mut before = before;
            for _ in 0..QUALIFIERS.len() {
                let (head, gap) = without_gap(before);
                let word = last_word(head);
                if !is_among(word, &QUALIFIERS) || !gap.chars().all(|c| MARKUP.contains(&c)) {
                    return false;
                }
                before = head.get(..head.len() - word.len()).unwrap_or_default();
                if opens(before) {
                    return true;
                }
            }
            false
        }
        VoteLabel::Confidence | VoteLabel::Source | VoteLabel::Reasoning => {
            let word = last_word(head);
            !gap.contains(QUOTES)
                && (gap.contains([',', '('])
                    || Vote::stated(word).is_some()
                    || word.bytes().all(|byte| byte.is_ascii_digit()))
        }
    }
}

/// True if a line or a sentence starts here.
fn opens(before: &str) -> bool {
    if begins_line(before) {
        return true;
    }
    let (head, gap) = without_gap(before);
    if is_line_start(head) {
        return false;
    }
    let word = last_word(head);
    let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    if is_number && begins_line(head.get(..head.len() - word.len()).unwrap_or_default()) {
        // The number of a list.
        return true;
    }
    let ends_sentence = gap.contains(['.', ';', '!', '?', '|', '%', '–', '—']);
    let near = gap.rsplit(char::is_whitespace).next().unwrap_or_default();
    ends_sentence
        && !gap.contains([':', ',', '>'])
        && !near.contains(QUOTES)
        && !head.ends_with("e.g")
}

/// The vote that a value is, and what stands after it.
fn vote(value: &str) -> Option<(Vote, &str)> {
    let opening = |c: char| {
        c.is_whitespace() || MARKUP.contains(&c) || QUOTES.contains(&c) || "[(<".contains(c)
    };
    let value = value.trim_start_matches(opening);
    let word = first_word(value);
    let vote = Vote::stated(word)?;
    let rest = value.get(word.len()..)?;
    stands(rest).then_some((vote, rest))
}

/// True if a vote holds, given the text after it.
fn stands(after: &str) -> bool {
    // `APPROVE_LATER`, `APPROVE-ish`: another word.
    let mut chars = after.chars();
    if matches!(chars.next(), Some('_' | '-')) && chars.next().is_some_and(char::is_alphanumeric) {
        return false;
    }
    let closing = |c: char| MARKUP.contains(&c) || QUOTES.contains(&c) || ")]>".contains(c);
    let rest = after.trim_start_matches(closing);
    let Some(next) = rest.chars().next() else {
        return true;
    };
    let word = first_word(rest);
    if !word.is_empty() {
        return is_among(word, &LEADS_ON)
            || LABELS.iter().any(|(name, _)| is_among(word, &[name]))
            || word.bytes().all(|byte| byte.is_ascii_digit());
    }
    match next {
        '?' => false,
        // A list of all votes, one on a line, is none of them.
        '\n' | '\r' => alone(rest.trim_start().lines().next().unwrap_or_default()).is_none(),
        _ => {
            let follows = rest.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '\n');
            let gap = rest.get(..rest.len() - follows.len()).unwrap_or_default();
            let word = first_word(follows);
            let ends = gap.contains(['.', ';', '!']) && gap.ends_with(char::is_whitespace);
            !gap.contains('?')
                && (ends
                    || word.is_empty()
                    || !(is_among(word, &TAKES_BACK) || Vote::stated(word).is_some()))
        }
    }
}

/// The confidence in a value and what stands after it; nothing where nothing is said.
fn confidence(value: &str) -> Option<(LabelValue, &str)> {
    let opening = |c: char| MARKUP.contains(&c) || QUOTES.contains(&c) || "[(<~≈".contains(c);
    let mut rest = value.trim_start_matches(opening);
    if rest.is_empty() || rest.starts_with(['\n', '\r']) {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || opening(c));
        if !rest.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
    }
    Some(match confidence::at_start(rest) {
        Ok((milli, len)) => (
            LabelValue::Confidence(Ok(milli)),
            rest.get(len..).unwrap_or_default(),
        ),
        Err(no_share) => (LabelValue::Confidence(Err(no_share)), rest),
    })
}

/// The number of a passage in a value and what stands after it.
fn source(value: &str) -> Option<(LabelValue, &str)> {
    let rest = value.trim_start_matches(|c: char| MARKUP.contains(&c) || "[(#".contains(c));
    let number = first_word(rest);
    let source = number.parse().ok()?;
    let rest = rest.get(number.len()..).unwrap_or_default();
    Some((
        LabelValue::Source(source),
        rest.strip_prefix([']', ')']).unwrap_or(rest),
    ))
}
