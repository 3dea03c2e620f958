//! Filters a text while it arrives.

use std::borrow::Cow;
use std::mem;
use std::sync::Arc;

use super::draft::{RedactionDraft, Replacement};
use super::entity::{EntityKind, EntitySpan, SpanKind};
use super::preview::PreviewText;
use super::scan::{CONTEXT_BYTES, PrecedingText, TextScan};
use super::segments::{NextSegment, OVERLAP_BYTES, SegmentCutter, floor};
use super::{CompiledRules, RedactedText};

/// Maximum distance from the target at which a window is cut at a space.
const SPACE_BYTES_MAX: usize = 256;

/// A text that arrives in pieces. The result does not depend on how the text is cut.
///
/// At most a window and a private key are held back. A whole text is filtered by the same code: it is a stream
/// of one piece.
#[derive(Debug)]
pub struct RedactStream {
    compiled: Arc<CompiledRules>,
    /// Text that has arrived and is not yet decided.
    held: String,
    /// The first bytes of an incomplete character.
    split: Vec<u8>,
    cutter: SegmentCutter,
    before: PrecedingText,
    /// Size of the text before `held`.
    passed: usize,
    spans: Vec<EntitySpan>,
    /// Inside a token longer than a window: the rest of it is removed too.
    swallowing: bool,
    steps: u64,
}

impl RedactStream {
    pub(super) fn new(compiled: Arc<CompiledRules>) -> Self {
        Self {
            compiled,
            held: String::new(),
            split: Vec::new(),
            cutter: SegmentCutter::default(),
            before: PrecedingText::default(),
            passed: 0,
            spans: Vec::new(),
            swallowing: false,
            steps: 0,
        }
    }

    /// Adds a piece and returns what can be shown by now.
    #[must_use]
    pub fn push(&mut self, piece: &str) -> String {
        if !self.split.is_empty() {
            return self.push_bytes(piece.as_bytes());
        }
        self.held.push_str(piece);
        self.pump(false)
    }

    /// Adds a piece of UTF-8 that may end inside a character. Invalid UTF-8 becomes `U+FFFD`, as in
    /// [`String::from_utf8_lossy`] of the whole.
    #[must_use]
    pub fn push_bytes(&mut self, piece: &[u8]) -> String {
        let mut bytes = mem::take(&mut self.split);
        bytes.extend_from_slice(piece);
        let mut rest = bytes.as_slice();
        loop {
            let error = match str::from_utf8(rest) {
                Ok(text) => {
                    self.held.push_str(text);
                    break;
                }
                Err(error) => error,
            };
            let (valid, after) = rest.split_at(error.valid_up_to());
            self.held
                .push_str(str::from_utf8(valid).unwrap_or_default());
            let Some(wrong) = error.error_len() else {
                self.split = after.to_vec();
                break;
            };
            self.held.push(char::REPLACEMENT_CHARACTER);
            rest = &after[wrong..];
        }
        self.pump(false)
    }

    /// Ends the text and returns the rest.
    #[must_use]
    pub fn finish(&mut self) -> String {
        if !mem::take(&mut self.split).is_empty() {
            self.held.push(char::REPLACEMENT_CHARACTER);
        }
        self.pump(true)
    }

    /// Findings since the last call. Positions count from the start of the text.
    pub fn take_spans(&mut self) -> Vec<EntitySpan> {
        mem::take(&mut self.spans)
    }

    /// Number of bytes examined so far, each as often as it was. It grows linearly with the text.
    pub fn steps(&self) -> u64 {
        self.steps + self.cutter.steps
    }

    pub(super) fn whole(mut self, text: &str) -> RedactedText {
        let shown = self.all_of(text).into_owned();
        RedactedText {
            text: shown,
            spans: self.spans,
        }
    }

    /// Filters a whole text, which is copied only if it changes.
    pub(super) fn all_of<'t>(&mut self, text: &'t str) -> Cow<'t, str> {
        let mut shown = PreviewText::new(text);
        self.run(text, true, &mut shown);
        shown.into_text()
    }

    fn pump(&mut self, ended: bool) -> String {
        let mut held = mem::take(&mut self.held);
        let mut shown = PreviewText::new(&held);
        let done = self.run(&held, ended, &mut shown);
        let shown = shown.into_text().into_owned();
        held.drain(..done);
        self.held = held;
        shown
    }

    /// Shows as much of `held` as can be decided, and returns the size of that part.
    fn run(&mut self, held: &str, ended: bool, shown: &mut PreviewText<'_>) -> usize {
        let mut done = 0;
        loop {
            let rest = &held[done..];
            if self.swallowing {
                let token = rest.bytes().take_while(|byte| is_token(*byte)).count();
                shown.put("");
                done += token;
                self.passed += token;
                if done == held.len() {
                    break;
                }
                self.swallowing = false;
                continue;
            }
            let bytes = match self.cutter.next(rest, ended) {
                NextSegment::Wait => break,
                NextSegment::Segment(bytes) => {
                    self.filter(&rest[..bytes], StreamPiece::Whole, shown)
                }
                NextSegment::Window(bytes) => {
                    self.filter(&rest[..bytes], StreamPiece::Window, shown)
                }
            };
            self.cutter.advance(bytes);
            done += bytes;
            self.passed += bytes;
        }
        done
    }

    /// Filters a piece, shows it, and returns the size of the finished part.
    fn filter(&mut self, text: &str, piece: StreamPiece, shown: &mut PreviewText<'_>) -> usize {
        let compiled = Arc::clone(&self.compiled);
        let (found, steps) = TextScan::run(&compiled.recognisers, &mut self.before, text);
        self.steps += steps;
        let edits: Vec<Replacement> = found
            .into_iter()
            .map(|found| compiled.edit(found, text))
            .collect();
        // Before the draft is changed: later filters may absorb these edits, but a finding stays a finding.
        let mut spans: Vec<EntitySpan> = edits.iter().map(|edit| self.span(edit)).collect();
        let mut draft = RedactionDraft::new(text, edits);
        draft.apply(compiled.content.edits(&draft.text()));
        if let Some(profanity) = &compiled.profanity {
            draft.apply(profanity.edits(&draft.text()));
        }
        let done = match piece {
            StreamPiece::Whole => text.len(),
            StreamPiece::Window => cut_in(text, draft.edits()),
        };
        self.swallowing = draft.edits().iter().any(|edit| {
            (edit.kind == SpanKind::Entity(EntityKind::Jwt) || follows_word(edit))
                && edit.end == done
                && piece == StreamPiece::Window
        }) && done == text.len();
        draft.cut(done);
        let later = draft.edits().iter();
        spans.extend(
            later
                .filter(|edit| !matches!(edit.kind, SpanKind::Entity(_)))
                .map(|edit| self.span(edit)),
        );
        spans.retain(|span| span.end <= self.passed + done);
        spans.sort_by_key(|span| (span.start, span.end));
        self.spans.append(&mut spans);
        match draft.text() {
            Cow::Borrowed(same) => shown.keep(same),
            Cow::Owned(other) => shown.put(&other),
        }
        self.before.advance(text, done);
        done
    }

    fn span(&self, edit: &Replacement) -> EntitySpan {
        EntitySpan {
            start: self.passed + edit.start,
            end: self.passed + edit.end,
            kind: edit.kind.clone(),
            action: edit.action,
        }
    }
}

/// Kind of a piece.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StreamPiece {
    /// A segment, which is finished as a whole.
    Whole,
    /// A window into a long line: its end is processed again.
    Window,
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_./+=~:".contains(&byte)
}

/// True if the finding may depend on the word before it.
fn follows_word(edit: &Replacement) -> bool {
    matches!(
        edit.kind,
        SpanKind::Entity(EntityKind::Secret | EntityKind::Password)
    )
}

/// Position at which to cut a window: before its end, at a space if possible, and never inside a finding.
fn cut_in(text: &str, edits: &[Replacement]) -> usize {
    let target = text.len().saturating_sub(OVERLAP_BYTES).max(1);
    let floor_at = target.saturating_sub(SPACE_BYTES_MAX);
    let space = text.as_bytes()[floor_at..target]
        .iter()
        .rposition(u8::is_ascii_whitespace)
        .map(|space| floor_at + space + 1);
    let cut = space.unwrap_or_else(|| floor(text, target));
    let begin = |edit: &Replacement| {
        let word = if follows_word(edit) { CONTEXT_BYTES } else { 0 };
        edit.start.saturating_sub(word)
    };
    let cut_in_two = |edit: &&Replacement| begin(edit) < cut && cut < edit.end;
    match edits.iter().find(cut_in_two) {
        // Each window must advance the text.
        Some(edit) if edit.start > target / 2 && !follows_word(edit) => edit.start,
        Some(edit) => edit.end,
        None => cut,
    }
}
