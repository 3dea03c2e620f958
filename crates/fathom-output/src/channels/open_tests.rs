//! A filter for tests of what comes after the filters.

use super::{FilterStream, OutputChannel, TextFilter};

/// Lets everything pass.
pub(crate) struct Open;

impl TextFilter for Open {
    fn open(&self, _: OutputChannel) -> Box<dyn FilterStream> {
        Box::new(Self)
    }
}

impl FilterStream for Open {
    fn push(&mut self, text: &str) -> String {
        text.to_owned()
    }

    fn finish(self: Box<Self>) -> String {
        String::new()
    }
}
