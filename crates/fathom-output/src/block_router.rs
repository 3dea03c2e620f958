//! Routes a model's stream to deliveries.

use std::sync::Arc;

use fathom_core::channel::marker::{BlockKind, MarkerEvent, MarkerParser};

use crate::channels::{
    BlockDelivery, BlockEnd, BlockFlaw, DeliveryPart, FilteredText, OutputChannel, OutputFilter,
    TextFilter,
};
use crate::routes::{ChannelRouteRow, RouteTable};

/// Maximum size of a block for channels that take whole ones. Of a longer one the beginning is delivered.
pub const BLOCK_BYTES_MAX: usize = 1024 * 1024;

/// Parses a stream, looks up the channels of its blocks, and filters each block for each channel.
///
/// Streaming channels get a block while it is written, the others when it is finished; they get no blank
/// blocks. The shell gets exactly and completely what the model wrote, or a [`DeliveryPart::Flawed`].
pub struct BlockRouter {
    matrix: Arc<RouteTable>,
    filter: Arc<dyn TextFilter>,
    parser: MarkerParser,
    /// At most a block and a seed within it.
    open: Vec<OpenBlock>,
    next_block: u32,
}

struct OpenBlock {
    outlets: Vec<ChannelSink>,
}

/// A block on its way to one channel.
struct ChannelSink {
    head: BlockHead,
    sieve: OutputFilter,
    way: RouteWay,
}

/// The common fields of all deliveries of an outlet.
struct BlockHead {
    kind: BlockKind,
    block: u32,
    route: ChannelRouteRow,
}

enum RouteWay {
    Streamed,
    Whole(WholeBlock),
}

/// A block that is delivered when it is finished.
#[derive(Default)]
struct WholeBlock {
    text: FilteredText,
    is_cut: bool,
    /// The model's own text, if every letter matters.
    written: Option<String>,
}

impl BlockRouter {
    /// A router for one stream.
    pub fn new(matrix: Arc<RouteTable>, filter: Arc<dyn TextFilter>) -> Self {
        Self {
            matrix,
            filter,
            parser: MarkerParser::new(),
            open: Vec::new(),
            next_block: 0,
        }
    }

    /// Adds text of the stream.
    pub fn push(&mut self, text: &str) -> Vec<BlockDelivery> {
        let pieces = self.parser.push(text);
        let mut out = Vec::new();
        for piece in pieces {
            self.route(piece, BlockEnd::Complete, &mut out);
        }
        out
    }

    /// Delivers one complete block.
    pub fn block(&mut self, kind: BlockKind, text: &str) -> Vec<BlockDelivery> {
        let mut out = Vec::new();
        self.route(MarkerEvent::Start(kind), BlockEnd::Complete, &mut out);
        self.route(
            MarkerEvent::Text(text.to_owned()),
            BlockEnd::Complete,
            &mut out,
        );
        self.route(MarkerEvent::End(kind), BlockEnd::Complete, &mut out);
        out
    }

    /// Ends a stream that the model finished.
    pub fn finish(self) -> Vec<BlockDelivery> {
        self.end(BlockEnd::Complete)
    }

    /// Ends a stream that was cut off by the observer, a limit or a fault. Open blocks are incomplete.
    pub fn stop(self) -> Vec<BlockDelivery> {
        self.end(BlockEnd::Stopped)
    }

    fn end(mut self, ending: BlockEnd) -> Vec<BlockDelivery> {
        let pieces = std::mem::take(&mut self.parser).finish();
        let mut out = Vec::new();
        for piece in pieces {
            self.route(piece, ending, &mut out);
        }
        out
    }

    fn route(&mut self, piece: MarkerEvent, ending: BlockEnd, out: &mut Vec<BlockDelivery>) {
        match piece {
            MarkerEvent::Start(kind) => {
                let block = self.begin(kind);
                let streamed = block.outlets.iter().filter(|outlet| outlet.head.streams());
                out.extend(streamed.map(|outlet| outlet.head.with(DeliveryPart::Begin)));
                self.open.push(block);
            }
            MarkerEvent::Text(text) => {
                if let Some(block) = self.open.last_mut() {
                    block.take(&text, out);
                }
            }
            MarkerEvent::End(_) => {
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
        let outlets = routes.map(|&route| ChannelSink {
            head: BlockHead { kind, block, route },
            sieve: OutputFilter::open(&*self.filter, route.channel),
            way: if route.channel.streams() {
                RouteWay::Streamed
            } else {
                // The filtered text is compared with it at the end: a changed command is not run.
                let written = (route.channel == OutputChannel::Shell).then(String::new);
                RouteWay::Whole(WholeBlock {
                    written,
                    ..WholeBlock::default()
                })
            },
        });
        OpenBlock {
            outlets: outlets.collect(),
        }
    }
}

impl OpenBlock {
    fn take(&mut self, text: &str, out: &mut Vec<BlockDelivery>) {
        for outlet in &mut self.outlets {
            out.extend(outlet.take(text).map(|part| outlet.head.with(part)));
        }
    }

    fn end(self, ending: BlockEnd, out: &mut Vec<BlockDelivery>) {
        for outlet in self.outlets {
            outlet.end(ending, out);
        }
    }
}

impl ChannelSink {
    fn take(&mut self, said: &str) -> Option<DeliveryPart> {
        let clean = self.sieve.push(said);
        match &mut self.way {
            RouteWay::Streamed => delta(clean),
            RouteWay::Whole(whole) => {
                whole.note(said);
                whole.append(&clean);
                None
            }
        }
    }

    fn end(self, ending: BlockEnd, out: &mut Vec<BlockDelivery>) {
        let Self { head, sieve, way } = self;
        let last = sieve.finish();
        match way {
            RouteWay::Streamed => {
                out.extend(delta(last).map(|part| head.with(part)));
                out.push(head.with(DeliveryPart::End(ending)));
            }
            RouteWay::Whole(mut whole) => {
                whole.append(&last);
                out.extend(whole.end(ending).map(|part| head.with(part)));
            }
        }
    }
}

impl BlockHead {
    fn streams(&self) -> bool {
        self.route.channel.streams()
    }

    fn with(&self, part: DeliveryPart) -> BlockDelivery {
        BlockDelivery {
            channel: self.route.channel,
            kind: self.kind,
            block: self.block,
            form: self.route.form,
            part,
        }
    }
}

impl WholeBlock {
    /// Keeps the model's own text, if needed.
    fn note(&mut self, said: &str) {
        if let Some(written) = &mut self.written {
            written.push_str(said);
            if written.len() > BLOCK_BYTES_MAX {
                self.cut();
            }
        }
    }

    fn append(&mut self, clean: &FilteredText) {
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
    fn end(self, ending: BlockEnd) -> Option<DeliveryPart> {
        let is_altered = self
            .written
            .is_some_and(|written| written != self.text.as_str());
        let text = self.text.trimmed();
        let flaw = match ending {
            // Truncation first: a truncated block has lost its own text, so nothing else can be said about it.
            _ if self.is_cut => Some(BlockFlaw::TooLong),
            BlockEnd::Stopped => Some(BlockFlaw::Stopped),
            BlockEnd::Complete => is_altered.then_some(BlockFlaw::Altered),
        };
        match flaw {
            Some(flaw) => Some(DeliveryPart::Flawed(text, flaw)),
            None if text.is_blank() => None,
            None => Some(DeliveryPart::Whole(text)),
        }
    }
}

fn delta(clean: FilteredText) -> Option<DeliveryPart> {
    (!clean.as_str().is_empty()).then_some(DeliveryPart::Delta(clean))
}
