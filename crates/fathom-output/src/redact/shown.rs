//! What may be shown of a text. As long as nothing changes, nothing is copied.

use std::borrow::Cow;

/// A text that is shown piece by piece, beside the one that it is made from.
#[derive(Debug)]
pub(super) struct Shown<'a> {
    source: &'a str,
    /// How much of the source is shown as it is, while nothing differs.
    same: usize,
    /// What is shown, from the first difference on.
    own: Option<String>,
}

impl<'a> Shown<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        Self {
            source,
            same: 0,
            own: None,
        }
    }

    /// Shows the next bytes of the source as they are. All before them has been shown, or put otherwise.
    pub(super) fn keep(&mut self, next: &str) {
        match &mut self.own {
            Some(own) => own.push_str(next),
            None => self.same += next.len(),
        }
    }

    /// Shows something else in the place of what comes next in the source.
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
