//! A segment on its way through the filters: the original and its edits.
//!
//! Each filter reads the output of the one before it. Positions refer to the original, so that spans can be
//! shown there, and so that a filter that replaces a replacement takes over all of it.

use std::borrow::Cow;

use super::entity::{RedactAction, SpanKind};

/// A replacement of a part of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Replacement {
    pub start: usize,
    pub end: usize,
    pub text: String,
    pub kind: SpanKind,
    pub action: RedactAction,
}

/// The name of what was replaced, as the reader sees it.
pub(super) fn mark(kind: &SpanKind) -> String {
    format!("[{}]", kind.name())
}

/// Sorts edits; of two that overlap, the first takes over the range of the other.
pub(super) fn resolve(mut edits: Vec<Replacement>) -> Vec<Replacement> {
    edits.sort_by_key(|edit| (edit.start, edit.end));
    let mut kept: Vec<Replacement> = Vec::with_capacity(edits.len());
    for edit in edits {
        match kept.last_mut() {
            Some(last) if edit.start < last.end => last.end = last.end.max(edit.end),
            _ => kept.push(edit),
        }
    }
    kept
}

/// A segment and its edits, sorted and without overlaps.
#[derive(Debug)]
pub(super) struct RedactionDraft<'a> {
    original: &'a str,
    edits: Vec<Replacement>,
}

impl<'a> RedactionDraft<'a> {
    pub(super) fn new(original: &'a str, edits: Vec<Replacement>) -> Self {
        Self { original, edits }
    }

    pub(super) fn edits(&self) -> &[Replacement] {
        &self.edits
    }

    /// Drops everything after a cut, which is inside no edit.
    pub(super) fn cut(&mut self, at: usize) {
        self.original = &self.original[..at];
        self.edits.retain(|edit| edit.end <= at);
    }

    /// The text as the next filter reads it.
    pub(super) fn text(&self) -> Cow<'a, str> {
        if self.edits.is_empty() {
            return Cow::Borrowed(self.original);
        }
        let mut text = String::with_capacity(self.original.len());
        let mut from = 0;
        for edit in &self.edits {
            text.push_str(&self.original[from..edit.start]);
            text.push_str(&edit.text);
            from = edit.end;
        }
        text.push_str(&self.original[from..]);
        Cow::Owned(text)
    }

    /// Adds the edits of a filter, whose positions refer to [`Self::text`]. They take over earlier edits that
    /// they touch.
    pub(super) fn apply(&mut self, later: Vec<Replacement>) {
        if later.is_empty() {
            return;
        }
        if self.edits.is_empty() {
            self.edits = later;
            return;
        }
        let mut earlier = std::mem::take(&mut self.edits).into_iter().peekable();
        let mut merged = Vec::new();
        // Difference between a position in the text and the same position in the original.
        let mut grown: isize = 0;
        for mut edit in later {
            let (start, end) = (edit.start, edit.end);
            let mut own_start = None;
            let mut own_end = None;
            while let Some(before) = earlier.peek() {
                let text_start = before.start.saturating_add_signed(grown);
                let text_end = text_start + before.text.len();
                if text_start >= end {
                    break;
                }
                let shift = grown + size(before.text.len()) - size(before.end - before.start);
                if text_end <= start {
                    grown = shift;
                    merged.extend(earlier.next());
                    continue;
                }
                // It touches the edit, which absorbs it.
                own_start.get_or_insert(start.min(text_start).saturating_add_signed(-grown));
                grown = shift;
                own_end = Some(end.max(text_end).saturating_add_signed(-grown));
                earlier.next();
            }
            edit.start = own_start.unwrap_or_else(|| start.saturating_add_signed(-grown));
            edit.end = own_end.unwrap_or_else(|| end.saturating_add_signed(-grown));
            merged.push(edit);
        }
        merged.extend(earlier);
        self.edits = merged;
    }
}

fn size(bytes: usize) -> isize {
    isize::try_from(bytes).unwrap_or(isize::MAX)
}

#[cfg(test)]
#[path = "draft_tests.rs"]
mod tests;
