//! From a model's stream to deliveries.

use std::sync::Arc;

use fathom_core::marker::{BlockKind, Parser, Piece};

use crate::channels::{Channel, Clean, Delivery, Ending, Filter, Flaw, Part, Sieve};
use crate::matrix::{Matrix, Route};

/// Longest block for a channel that takes whole ones. Of a longer one the beginning is delivered.
pub const BLOCK_BYTES_MAX: usize = 1024 * 1024;

/// Reads a stream, asks the matrix where its blocks go, and passes each through the filters on its way.
///
/// Channels that stream get a block as it is written, the others when it is over; blank blocks are not delivered to them.
/// What the shell gets is what the model wrote, to the letter and to its end, or a [`Part::Flawed`].
pub struct Router {
    matrix: Arc<Matrix>,
    filter: Arc<dyn Filter>,
    parser: Parser,
    /// At most a block and a seed in it.
    open: Vec<OpenBlock>,
    next_block: u32,
}

struct OpenBlock {
    outlets: Vec<Outlet>,
}

/// A block on its way to one channel.
struct Outlet {
    head: Head,
    sieve: Sieve,
    way: Way,
}

/// What all deliveries of an outlet have in common.
struct Head {
    kind: BlockKind,
    block: u32,
    route: Route,
}

enum Way {
    Streamed,
    Whole(Whole),
}

/// A block that is delivered when it is over.
#[derive(Default)]
struct Whole {
    text: Clean,
    is_cut: bool,
    /// What the model wrote, where every letter matters.
    written: Option<String>,
}

impl Router {
    /// A router for one stream.
    pub fn new(matrix: Arc<Matrix>, filter: Arc<dyn Filter>) -> Self {
        Self {
            matrix,
            filter,
            parser: Parser::new(),
            open: Vec::new(),
            next_block: 0,
        }
    }

    /// Takes more of the stream.
    pub fn push(&mut self, text: &str) -> Vec<Delivery> {
        let pieces = self.parser.push(text);
        let mut out = Vec::new();
        for piece in pieces {
            self.route(piece, Ending::Complete, &mut out);
        }
        out
    }

    /// Delivers one block that is there as a whole.
    pub fn block(&mut self, kind: BlockKind, text: &str) -> Vec<Delivery> {
        let mut out = Vec::new();
        self.route(Piece::Start(kind), Ending::Complete, &mut out);
        self.route(Piece::Text(text.to_owned()), Ending::Complete, &mut out);
        self.route(Piece::End(kind), Ending::Complete, &mut out);
        out
    }

    /// The stream is over, and the model wrote it to its end.
    pub fn finish(self) -> Vec<Delivery> {
        self.end(Ending::Complete)
    }

    /// The stream was cut off: by the observer, a limit or a fault. The blocks that are open are not whole.
    pub fn stop(self) -> Vec<Delivery> {
        self.end(Ending::Stopped)
    }

    fn end(mut self, ending: Ending) -> Vec<Delivery> {
        let pieces = std::mem::take(&mut self.parser).finish();
        let mut out = Vec::new();
        for piece in pieces {
            self.route(piece, ending, &mut out);
        }
        out
    }

    fn route(&mut self, piece: Piece, ending: Ending, out: &mut Vec<Delivery>) {
        match piece {
            Piece::Start(kind) => {
                let block = self.begin(kind);
                let streamed = block.outlets.iter().filter(|outlet| outlet.head.streams());
                out.extend(streamed.map(|outlet| outlet.head.with(Part::Begin)));
                self.open.push(block);
            }
            Piece::Text(text) => {
                if let Some(block) = self.open.last_mut() {
                    block.take(&text, out);
                }
            }
            Piece::End(_) => {
                if let Some(block) = self.open.pop() {
                    block.end(ending, out);
                }
            }
        }
    }

    fn begin(&mut self, kind: BlockKind) -> OpenBlock {
        let block = self.next_block;
        self.next_block = block.saturating_add(1);
        let routes = self.matrix.routes(kind.goes_as()).iter();
        let outlets = routes.map(|&route| Outlet {
            head: Head { kind, block, route },
            sieve: Sieve::open(&*self.filter, route.channel),
            way: if route.channel.streams() {
                Way::Streamed
            } else {
                let written = (route.channel == Channel::Shell).then(String::new);
                Way::Whole(Whole {
                    written,
                    ..Whole::default()
                })
            },
        });
        OpenBlock {
            outlets: outlets.collect(),
        }
    }
}

impl OpenBlock {
    fn take(&mut self, text: &str, out: &mut Vec<Delivery>) {
        for outlet in &mut self.outlets {
            out.extend(outlet.take(text).map(|part| outlet.head.with(part)));
        }
    }

    fn end(self, ending: Ending, out: &mut Vec<Delivery>) {
        for outlet in self.outlets {
            outlet.end(ending, out);
        }
    }
}

impl Outlet {
    fn take(&mut self, said: &str) -> Option<Part> {
        let clean = self.sieve.push(said);
        match &mut self.way {
            Way::Streamed => delta(clean),
            Way::Whole(whole) => {
                whole.note(said);
                whole.append(&clean);
                None
            }
        }
    }

    fn end(self, ending: Ending, out: &mut Vec<Delivery>) {
        let Self { head, sieve, way } = self;
        let last = sieve.finish();
        match way {
            Way::Streamed => {
                out.extend(delta(last).map(|part| head.with(part)));
                out.push(head.with(Part::End(ending)));
            }
            Way::Whole(mut whole) => {
                whole.append(&last);
                out.extend(whole.end(ending).map(|part| head.with(part)));
            }
        }
    }
}

impl Head {
    fn streams(&self) -> bool {
        self.route.channel.streams()
    }

    fn with(&self, part: Part) -> Delivery {
        Delivery {
            channel: self.route.channel,
            kind: self.kind,
            block: self.block,
            form: self.route.form,
            part,
        }
    }
}

impl Whole {
    /// Keeps what the model wrote, where it matters.
    fn note(&mut self, said: &str) {
        if let Some(written) = &mut self.written {
            written.push_str(said);
            if written.len() > BLOCK_BYTES_MAX {
                self.cut();
            }
        }
    }

    fn append(&mut self, clean: &Clean) {
        if self.is_cut {
            return;
        }
        let room = BLOCK_BYTES_MAX - self.text.as_str().len();
        self.text.append(&clean.beginning(room));
        if clean.as_str().len() > room {
            self.cut();
        }
    }

    /// What is cut is not run, so nothing is compared with it.
    fn cut(&mut self) {
        self.is_cut = true;
        self.written = None;
    }

    /// Nothing where there is nothing to deliver.
    fn end(self, ending: Ending) -> Option<Part> {
        let is_altered = self
            .written
            .is_some_and(|written| written != self.text.as_str());
        let text = self.text.trimmed();
        let flaw = match ending {
            _ if self.is_cut => Some(Flaw::TooLong),
            Ending::Stopped => Some(Flaw::Stopped),
            Ending::Complete => is_altered.then_some(Flaw::Altered),
        };
        match flaw {
            Some(flaw) => Some(Part::Flawed(text, flaw)),
            None if text.is_blank() => None,
            None => Some(Part::Whole(text)),
        }
    }
}

fn delta(clean: Clean) -> Option<Part> {
    (!clean.as_str().is_empty()).then_some(Part::Delta(clean))
}
