//! From a reply to what was said.

use serde_json::Value;

use super::confidence::{self, ConfidenceError};
use super::vote::{ParsedVote, Vote, VoteError};
use crate::reply::labels::{self, LabelMatch, LabelValue};
use crate::reply::{JsonCandidate, VoteFields, after_thoughts, pieces};
use fathom_core::unit::PerMille;

/// Most characters of a vote's reasoning.
pub const REASONING_CHARS_MAX: usize = 2_000;

/// Reads the vote of a reply.
///
/// A vote counts in a place made for it: in the member `vote` of a JSON object, bare, fenced or amid prose; after a
/// label that begins a line or a sentence (`VOTE: REJECT`); or as the one word of the first line. There the words are
/// taken in any case, after a name or a label also in the past (`approved`). Words in prose never count, whatever they say.
/// All votes in a reply must be the same. Broken JSON, an object inside another, and an HTML page are no votes, and
/// thoughts are not part of what was said.
///
/// Confidence is a percentage from 0 to 100 (`85`, `85.5`, `"85%"`). With a decimal point, without a sign of per cent and up
/// to 1.0 it is a fraction, so `1` is one per cent and `1.0` is all. In text it needs a label. What is stated but no such
/// number makes the reply unreadable; of several the last counts, as it does for reasoning and source.
///
/// Time and memory are linear in the length of the reply.
pub fn read(reply: &str) -> Result<ParsedVote, VoteError> {
    if reply.trim().is_empty() {
        return Err(VoteError::Empty);
    }
    let spoken = after_thoughts(reply).trim();
    if is_page(spoken) {
        return Err(VoteError::NoVote);
    }
    let mut ballot = VoteCollector::default();
    let mut text_from = 0;
    let mut end = spoken.len();
    for piece in pieces(spoken) {
        match piece {
            JsonCandidate::Object(object) => {
                ballot.hear_text(spoken.get(text_from..object.from).unwrap_or_default());
                text_from = object.to;
                ballot.hear_object(&object.into());
            }
            JsonCandidate::Broken(_) => {}
            JsonCandidate::Cut(from) => end = from,
        }
    }
    ballot.hear_text(spoken.get(text_from..end).unwrap_or_default());
    if ballot.vote.is_none() && end == spoken.len() {
        ballot.hear_first_line(spoken);
    }
    ballot.said()
}

/// Votes found in a reply so far.
#[derive(Default)]
struct VoteCollector {
    vote: Option<Vote>,
    is_torn: bool,
    confidence: Option<Result<PerMille, ConfidenceError>>,
    reasoning: Option<String>,
    passage: Option<usize>,
    /// True if an object held a vote, so that the text around it is only wrapping.
    has_object: bool,
    /// Text without a label.
    rest: String,
}

impl VoteCollector {
    fn cast(&mut self, vote: Vote) {
        self.is_torn |= self.vote.is_some_and(|earlier| earlier != vote);
        self.vote = Some(vote);
    }

    fn hear_object(&mut self, members: &VoteFields) {
        let mut has_vote = false;
        for value in &members.vote {
            if let Some(vote) = value.as_str().and_then(|word| Vote::stated(word.trim())) {
                self.cast(vote);
                has_vote = true;
            }
        }
        if !has_vote {
            return;
        }
        self.has_object = true;
        if let Some(value) = members.confidence.last() {
            self.confidence = confidence::of_value(value).transpose();
        }
        if let Some(Value::String(text)) = members.reasoning.last() {
            self.reasoning = Some(tidy(text));
        }
        self.passage = members.source.last().and_then(passage);
    }

    fn hear_text(&mut self, text: &str) {
        let mut from = 0;
        let mut is_reason = false;
        for LabelMatch { start, end, stated } in labels::all(text) {
            // A label inside the value of another.
            if start < from {
                continue;
            }
            self.keep(text.get(from..start).unwrap_or_default(), is_reason);
            from = end;
            is_reason = stated == LabelValue::Reasoning;
            match stated {
                LabelValue::Vote(vote) => self.cast(vote),
                LabelValue::Confidence(confidence) => self.confidence = Some(confidence),
                LabelValue::Source(number) => {
                    self.passage = Some(number).filter(|number| *number > 0);
                }
                LabelValue::Reasoning => {}
            }
        }
        self.keep(text.get(from..).unwrap_or_default(), is_reason);
    }

    fn keep(&mut self, text: &str, is_reason: bool) {
        if is_reason {
            self.reasoning = Some(tidy(text));
        } else if self.rest.len() < REASONING_CHARS_MAX {
            let text = tidy(text);
            if text.contains(char::is_alphanumeric) {
                self.rest.push_str(&text);
                self.rest.push(' ');
            }
        }
    }

    /// A vote without a label is the first line and nothing else. Another line that is another vote contradicts it.
    fn hear_first_line(&mut self, text: &str) {
        let text = text.trim_start();
        let mut lines = text.lines();
        let Some(vote) = lines.next().and_then(labels::alone) else {
            return;
        };
        self.cast(vote);
        for other in lines.filter_map(labels::alone) {
            self.cast(other);
        }
        let (_, rest) = text.split_once('\n').unwrap_or_default();
        self.rest = tidy(rest);
    }

    fn said(self) -> Result<ParsedVote, VoteError> {
        if self.is_torn {
            return Err(VoteError::Contradiction);
        }
        let vote = self.vote.ok_or(VoteError::NoVote)?;
        let confidence = self.confidence.transpose();
        let unlabelled = if self.has_object {
            String::new()
        } else {
            tidy(&self.rest)
        };
        Ok(ParsedVote {
            vote,
            confidence: confidence.map_err(|ConfidenceError| VoteError::Confidence)?,
            reasoning: self.reasoning.unwrap_or(unlabelled),
            passage: self.passage,
        })
    }
}

/// True for a page of HTML, as a gateway sends it in place of a reply.
fn is_page(text: &str) -> bool {
    let text = text.trim_start();
    ["<!doctype", "<html"].iter().any(|opening| {
        let start = text.get(..opening.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(opening))
    })
}

fn passage(value: &Value) -> Option<usize> {
    let number = value.as_u64()?;
    usize::try_from(number).ok().filter(|number| *number > 0)
}

/// One line of at most [`REASONING_CHARS_MAX`] characters without control characters.
fn tidy(text: &str) -> String {
    let is_gap = |c: char| c.is_whitespace() || c.is_control();
    let mut line = String::new();
    let mut chars = 0;
    for word in text.split(is_gap).filter(|word| !word.is_empty()) {
        if chars > 0 {
            line.push(' ');
            chars += 1;
        }
        for c in word.chars() {
            if chars >= REASONING_CHARS_MAX {
                line = line.chars().take(REASONING_CHARS_MAX - 1).collect();
                line.push('…');
                return line;
            }
            line.push(c);
            chars += 1;
        }
    }
    line
}
