//! A redactor as the filter of a channel.

use super::{RedactStream, TextRedactor};
use crate::channels::{FilterStream, OutputChannel, TextFilter};

/// All channels have the same rules: what may not be shown on one may be shown on none.
impl TextFilter for TextRedactor {
    fn open(&self, _channel: OutputChannel) -> Box<dyn FilterStream> {
        Box::new(FilteringReader(self.stream()))
    }
}

struct FilteringReader(RedactStream);

impl FilterStream for FilteringReader {
    fn push(&mut self, text: &str) -> String {
        let shown = self.0.push(text);
        // Channels do not use spans, and a text may be long.
        drop(self.0.take_spans());
        shown
    }

    fn finish(mut self: Box<Self>) -> String {
        self.0.finish()
    }
}
