//! Filtered text. There is no other way to make one, and channels accept nothing else.

use serde::Serialize;

use super::OutputChannel;

/// The filters that all output passes.
pub trait TextFilter: Send + Sync {
    /// Starts a new text: one block for one channel.
    fn open(&self, channel: OutputChannel) -> Box<dyn FilterStream>;
}

/// The filters at work on one text.
pub trait FilterStream: Send {
    /// Adds text, and returns what may be shown by now. Undecided text is held back, so that the joined result
    /// does not depend on how the text was cut.
    fn push(&mut self, text: &str) -> String;

    /// Ends the text and returns the rest.
    fn finish(self: Box<Self>) -> String;
}

/// Text that has passed the filters.
///
/// Only a [`OutputFilter`] makes one from text, and it cannot be deserialised, so there is no way around the filters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct FilteredText(String);

impl FilteredText {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// True if it contains only white space.
    pub fn is_blank(&self) -> bool {
        self.0.trim().is_empty()
    }

    /// Appends the text after it.
    pub fn append(&mut self, more: &Self) {
        self.0.push_str(&more.0);
    }

    /// The text without line ends before it and white space after it.
    #[must_use]
    pub fn trimmed(&self) -> Self {
        Self(trimmed(&self.0).to_owned())
    }

    /// Its beginning, of at most `bytes_max` bytes.
    #[must_use]
    pub fn beginning(&self, bytes_max: usize) -> Self {
        let end = self.0.floor_char_boundary(bytes_max);
        Self(self.0[..end].to_owned())
    }
}

pub(crate) fn trimmed(text: &str) -> &str {
    text.trim_end().trim_start_matches(['\r', '\n'])
}

/// One text on its way through the filters.
pub struct OutputFilter(Box<dyn FilterStream>);

impl OutputFilter {
    /// Starts a text for a channel.
    pub fn open(filter: &dyn TextFilter, channel: OutputChannel) -> Self {
        Self(filter.open(channel))
    }

    /// Adds text, and returns what may be shown by now.
    pub fn push(&mut self, text: &str) -> FilteredText {
        FilteredText(self.0.push(text))
    }

    /// Ends the text and returns the rest.
    pub fn finish(self) -> FilteredText {
        FilteredText(self.0.finish())
    }

    /// Filters a whole text at once.
    pub fn whole(filter: &dyn TextFilter, channel: OutputChannel, text: &str) -> FilteredText {
        let mut sieve = Self::open(filter, channel);
        let mut clean = sieve.push(text);
        clean.append(&sieve.finish());
        clean
    }
}
