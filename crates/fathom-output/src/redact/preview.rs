//! The visible form of a text. Nothing is copied until something changes.

use std::borrow::Cow;

/// A text that is shown piece by piece, and its source.
#[derive(Debug)]
pub(super) struct PreviewText<'a> {
    source: &'a str,
    /// Size of the unchanged beginning of the source.
    same: usize,
    /// The visible text, from the first change on.
    own: Option<String>,
}

impl<'a> PreviewText<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        Self {
            source,
            same: 0,
            own: None,
        }
    }

    /// Shows the next bytes of the source unchanged. Everything before them has been shown or replaced.
    pub(super) fn keep(&mut self, next: &str) {
        match &mut self.own {
            Some(own) => own.push_str(next),
            None => self.same += next.len(),
        }
    }

    /// Shows another text instead of the next part of the source.
    pub(super) fn put(&mut self, text: &str) {
        let own = self.own.get_or_insert_with(|| {
            let mut own = String::with_capacity(self.source.len());
            own.push_str(&self.source[..self.same]);
            own
        });
        own.push_str(text);
    }

    pub(super) fn into_text(self) -> Cow<'a, str> {
        match self.own {
            Some(own) => Cow::Owned(own),
            None => Cow::Borrowed(&self.source[..self.same]),
        }
    }
}
