//! A redactor as the filter of a channel.

use super::{Redactor, Stream};
use crate::channels::{Channel, Filter, FilterStream};

/// All channels have the same rules: what may not be shown on one may be shown on none.
impl Filter for Redactor {
    fn open(&self, _channel: Channel) -> Box<dyn FilterStream> {
        Box::new(Filtering(self.stream()))
    }
}

struct Filtering(Stream);

impl FilterStream for Filtering {
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
