//! Routes a model's stream to deliveries.

use std::sync::Arc;

use fathom_core::marker::{BlockKind, Parser, Piece};

use crate::channels::{Channel, Clean, Delivery, Ending, Filter, Flaw, Part, Sieve};
use crate::matrix::{Matrix, Route};

/// Maximum size of a block for channels that take whole ones. Of a longer one the beginning is delivered.
pub const BLOCK_BYTES_MAX: usize = 1024 * 1024;

/// Parses a stream, looks up the channels of its blocks, and filters each block for each channel.
///
/// Streaming channels get a block while it is written, the others when it is finished; they get no blank
/// blocks. The shell gets exactly and completely what the model wrote, or a [`Part::Flawed`].
pub struct Router {
    matrix: Arc<Matrix>,
    filter: Arc<dyn Filter>,
    parser: Parser,
    /// At most a block and a seed within it.
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

/// The common fields of all deliveries of an outlet.
struct Head {
    kind: BlockKind,
    block: u32,
    route: Route,
}

enum Way {
    Streamed,
    Whole(Whole),
}

/// A block that is delivered when it is finished.
#[derive(Default)]
struct Whole {
    text: Clean,
    is_cut: bool,
    /// The model's own text, if every letter matters.
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

    /// Adds text of the stream.
    pub fn push(&mut self, text: &str) -> Vec<Delivery> {
        let pieces = self.parser.push(text);
        let mut out = Vec::new();
        for piece in pieces {
            self.route(piece, Ending::Complete, &mut out);
        }
        out
    }

    /// Delivers one complete block.
    pub fn block(&mut self, kind: BlockKind, text: &str) -> Vec<Delivery> {
        let mut out = Vec::new();
        self.route(Piece::Start(kind), Ending::Complete, &mut out);
        self.route(Piece::Text(text.to_owned()), Ending::Complete, &mut out);
        self.route(Piece::End(kind), Ending::Complete, &mut out);
        out
    }

    /// Ends a stream that the model finished.
    pub fn finish(self) -> Vec<Delivery> {
        self.end(Ending::Complete)
    }

    /// Ends a stream that was cut off by the observer, a limit or a fault. Open blocks are incomplete.
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
                // The filtered text is compared with it at the end: a changed command is not run.
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
    /// Keeps the model's own text, if needed.
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

    /// Marks the block as truncated. It is not run, so there is nothing to compare any more.
    fn cut(&mut self) {
        self.is_cut = true;
        self.written = None;
    }

    /// The part to deliver, if any.
    fn end(self, ending: Ending) -> Option<Part> {
        let is_altered = self
            .written
            .is_some_and(|written| written != self.text.as_str());
        let text = self.text.trimmed();
        let flaw = match ending {
            // Truncation first: a truncated block has lost its own text, so nothing else can be said about it.
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
