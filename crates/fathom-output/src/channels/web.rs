//! Deliveries as an event stream for `EventSource` in browsers.
//!
//! A frame has a number, a name (`begin`, `delta`, `end`, `block`) and one line of JSON. Line ends in the text
//! are escaped there, so that no text can end a frame or start another.

use serde::Serialize;

use super::{Clean, Delivery, Ending, Flaw, Part};
use crate::matrix::Form;

/// An empty frame, which keeps an idle connection open.
pub const KEEP_ALIVE: &str = ":\n\n";

#[derive(Serialize)]
struct Data<'a> {
    block: u32,
    kind: &'static str,
    log: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a Clean>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flaw: Option<&'static str>,
}

/// Numbers and writes frames, so that a returning browser can name the last one it saw.
#[derive(Clone, Debug)]
pub struct Frames {
    next: u64,
}

impl Default for Frames {
    fn default() -> Self {
        Self { next: 1 }
    }
}

impl Frames {
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
    pub fn frame(&mut self, delivery: &Delivery) -> String {
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
pub fn event(delivery: &Delivery) -> String {
    let (event, text, flaw) = match &delivery.part {
        Part::Begin => ("begin", None, None),
        Part::Delta(text) => ("delta", Some(text), None),
        Part::End(Ending::Complete) => ("end", None, None),
        Part::End(Ending::Stopped) => ("end", None, Some("stopped")),
        Part::Whole(text) => ("block", Some(text), None),
        Part::Flawed(text, flaw) => ("block", Some(text), Some(word(*flaw))),
    };
    let data = Data {
        block: delivery.block,
        kind: delivery.kind.as_str(),
        log: delivery.form == Form::Log,
        text,
        flaw,
    };
    // A struct of strings and numbers always has a JSON form.
    let data = serde_json::to_string(&data).unwrap_or_default();
    format!("event: {event}\ndata: {data}\n\n")
}

const fn word(flaw: Flaw) -> &'static str {
    match flaw {
        Flaw::TooLong => "too_long",
        Flaw::Stopped => "stopped",
        Flaw::Altered => "altered",
    }
}

#[cfg(test)]
#[path = "web_tests.rs"]
mod tests;
