//! Text that has passed the filters. There is no other way to make one, and channels take nothing else.

use serde::Serialize;

use super::Channel;

/// The filters that everything passes before it leaves.
pub trait Filter: Send + Sync {
    /// Begins with a new text, which is one block on its way to one channel.
    fn open(&self, channel: Channel) -> Box<dyn FilterStream>;
}

/// The filters on their way through one text.
pub trait FilterStream: Send {
    /// Takes more of the text, and gives what may leave by now. What cannot be judged yet is held back, so that the pieces
    /// put together are the same however the text was cut.
    fn push(&mut self, text: &str) -> String;

    /// The text is over: gives what was held back.
    fn finish(self: Box<Self>) -> String;
}

/// Text that has passed the filters.
///
/// Only a [`Sieve`] makes it from text, and it cannot be read back from a file: whoever holds one knows that nothing came
/// by another way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Clean(String);

impl Clean {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether there is nothing in it but white space.
    pub fn is_blank(&self) -> bool {
        self.0.trim().is_empty()
    }

    /// Adds what came after.
    pub fn append(&mut self, more: &Self) {
        self.0.push_str(&more.0);
    }

    /// Without line ends before and white space after the text.
    #[must_use]
    pub fn trimmed(&self) -> Self {
        Self(trimmed(&self.0).to_owned())
    }

    /// The beginning, of so many bytes at most.
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
pub struct Sieve(Box<dyn FilterStream>);

impl Sieve {
    /// Begins with a text for a channel.
    pub fn open(filter: &dyn Filter, channel: Channel) -> Self {
        Self(filter.open(channel))
    }

    /// Takes more of the text, and gives what may leave by now.
    pub fn push(&mut self, text: &str) -> Clean {
        Clean(self.0.push(text))
    }

    /// The text is over: gives what was held back.
    pub fn finish(self) -> Clean {
        Clean(self.0.finish())
    }

    /// A whole text at once.
    pub fn whole(filter: &dyn Filter, channel: Channel, text: &str) -> Clean {
        let mut sieve = Self::open(filter, channel);
        let mut clean = sieve.push(text);
        clean.append(&sieve.finish());
        clean
    }
}
