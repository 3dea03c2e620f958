//! A segment on its way through the filters: what was there, and what is to stand in its place.
//!
//! Each filter reads what the one before it wrote. Places are kept in the text that went in, so that a span can be shown
//! there, and so that a filter that replaces something replaced takes it over as a whole.

use std::borrow::Cow;

use super::entity::{Action, Kind};

/// Something that is to stand in the place of something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    pub start: usize,
    pub end: usize,
    pub text: String,
    pub kind: Kind,
    pub action: Action,
}

/// The name of what was there, as the reader sees it.
pub(super) fn mark(kind: &Kind) -> String {
    format!("[{}]", kind.name())
}

/// Puts edits in order; where two overlap, the first one takes the other's place too.
pub(super) fn resolve(mut edits: Vec<Edit>) -> Vec<Edit> {
    edits.sort_by_key(|edit| (edit.start, edit.end));
    let mut kept: Vec<Edit> = Vec::with_capacity(edits.len());
    for edit in edits {
        match kept.last_mut() {
            Some(last) if edit.start < last.end => last.end = last.end.max(edit.end),
            _ => kept.push(edit),
        }
    }
    kept
}

/// A segment and its edits, in order and apart from each other.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    original: &'a str,
    edits: Vec<Edit>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(original: &'a str, edits: Vec<Edit>) -> Self {
        Self { original, edits }
    }

    pub(super) fn edits(&self) -> &[Edit] {
        &self.edits
    }

    /// Forgets what lies after a cut, which is inside no edit.
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

    /// Takes over the edits of a filter, whose places are in [`Self::text`]. Returns those that were there before and are
    /// now part of a later one.
    pub(super) fn apply(&mut self, later: Vec<Edit>) {
        if later.is_empty() {
            return;
        }
        if self.edits.is_empty() {
            self.edits = later;
            return;
        }
        let mut earlier = std::mem::take(&mut self.edits).into_iter().peekable();
        let mut merged = Vec::new();
        // How far a place in the text is ahead of the same place in the original.
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
                // It touches the edit, which swallows it.
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
