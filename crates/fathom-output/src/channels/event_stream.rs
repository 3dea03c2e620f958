//! Deliveries as an event stream for `EventSource` in browsers.
//!
//! A frame has a number, a name (`begin`, `delta`, `end`, `block`) and one line of JSON. Line ends in the text
//! are escaped there, so that no text can end a frame or start another.

use serde::Serialize;

use super::{BlockDelivery, BlockEnd, BlockFlaw, DeliveryPart, FilteredText};
use crate::routes::BlockFormat;

/// An empty frame, which keeps an idle connection open.
pub const KEEP_ALIVE: &str = ":\n\n";

#[derive(Serialize)]
struct SseData<'a> {
    block: u32,
    kind: &'static str,
    log: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a FilteredText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flaw: Option<&'static str>,
}

/// Numbers and writes frames, so that a returning browser can name the last one it saw.
#[derive(Clone, Debug)]
pub struct SseWriter {
    next: u64,
}

impl Default for SseWriter {
    fn default() -> Self {
        Self { next: 1 }
    }
}

impl SseWriter {
    /// Frames of a new stream, numbered from one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Frames that continue after `last`.
    pub const fn after(last: u64) -> Self {
        Self {
            next: last.saturating_add(1),
        }
    }

    /// Writes a delivery as a frame.
    pub fn frame(&mut self, delivery: &BlockDelivery) -> String {
        let id = self.next;
        self.next = id.saturating_add(1);
        numbered(id, &event(delivery))
    }
}

/// An event with its number as a frame.
pub fn numbered(id: u64, event: &str) -> String {
    format!("id: {id}\n{event}")
}

/// A delivery as the lines of a frame after its number: the form in which feeds store it and servers send it.
pub fn event(delivery: &BlockDelivery) -> String {
    let (event, text, flaw) = match &delivery.part {
        DeliveryPart::Begin => ("begin", None, None),
        DeliveryPart::Delta(text) => ("delta", Some(text), None),
        DeliveryPart::End(BlockEnd::Complete) => ("end", None, None),
        DeliveryPart::End(BlockEnd::Stopped) => ("end", None, Some("stopped")),
        DeliveryPart::Whole(text) => ("block", Some(text), None),
        DeliveryPart::Flawed(text, flaw) => ("block", Some(text), Some(word(*flaw))),
    };
    let data = SseData {
        block: delivery.block,
        kind: delivery.kind.as_str(),
        log: delivery.form == BlockFormat::Log,
        text,
        flaw,
    };
    // A struct of strings and numbers always has a JSON form.
    let data = serde_json::to_string(&data).unwrap_or_default();
    format!("event: {event}\ndata: {data}\n\n")
}

const fn word(flaw: BlockFlaw) -> &'static str {
    match flaw {
        BlockFlaw::TooLong => "too_long",
        BlockFlaw::Stopped => "stopped",
        BlockFlaw::Altered => "altered",
    }
}

#[cfg(test)]
#[path = "event_stream_tests.rs"]
mod tests;
