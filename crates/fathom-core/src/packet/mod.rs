//! Packets: what one model call receives, header and payload, packed under a limit of tokens.
//!
//! There is no other way to call a model. A program says what it wants to say; the governor puts the run's identity
//! and persona before it, shortens what is over its limit, leaves out whole entries that do not fit, and never
//! touches the prompt. What is for the log alone (ids, time, risk) stays in [`PacketMeta`] and never becomes part of what
//! the model sees.

mod fit_shares;
mod frame;
mod header_limits;
mod meta;
mod render;

use crate::model::ChatMessage;
use crate::text::Text;

pub use fit_shares::{FitLimit, KeptEntries, fit};
pub use frame::{IdentityProvenance, IdentitySignature, PacketFrame};
pub use header_limits::{HeaderField, HeaderLimits, INSTRUCTION_TOKENS_MAX};
pub use meta::{PacketId, PacketItem, PacketMeta, PacketRisk};
pub use render::{PacketHeader, RenderedField, outline, render};

/// Marks a field that was shortened, so that whoever reads the packet notices.
pub const SUMMARY_MARK: &str = "⚠SUMMARY";

/// The voice of a packet: framed by the charter, or plain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// Identity and persona come first.
    #[default]
    Framed,
    /// The header is empty, as for the leaf calls of a larger work.
    Plain,
}

/// The entries that stay if not all of them fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepFrom {
    /// The first ones: entries stand in the order of their worth.
    First,
    /// The last ones: entries stand in the order of time.
    Last,
}

/// The form that a share's entries take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShareLayout {
    /// Messages of their own, between the header and the prompt.
    Turns,
    /// Lines under a heading, at the end of the standing instructions.
    Section { title: String },
}

/// The room that a share may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShareSize {
    /// At most so many thousandths of what the header leaves.
    AtMost(u16),
    /// A weight: the room left by header and prompt is divided by weight among all weighted shares that are not empty.
    Weight(u16),
}

/// Entries that may be left out, whole, to make the packet fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketShare {
    /// The name, for the log.
    pub name: String,
    /// The entries, in the order in which they are shown.
    pub entries: Vec<ChatMessage>,
    pub keep: KeepFrom,
    pub form: ShareLayout,
    pub portion: ShareSize,
}

impl PacketShare {
    /// The part of what the header leaves that a history may take, in thousandths.
    pub const HISTORY_MAX_MILLI: u16 = 600;

    /// Earlier messages, oldest first.
    pub fn history(entries: Vec<ChatMessage>) -> Self {
        Self {
            name: "history".to_owned(),
            entries,
            keep: KeepFrom::Last,
            form: ShareLayout::Turns,
            portion: ShareSize::AtMost(Self::HISTORY_MAX_MILLI),
        }
    }

    /// A weighted section of the phase loop.
    pub fn section(
        name: &str,
        title: &str,
        weight: u16,
        keep: KeepFrom,
        entries: Vec<ChatMessage>,
    ) -> Self {
        Self {
            name: name.to_owned(),
            entries,
            keep,
            form: ShareLayout::Section {
                title: title.to_owned(),
            },
            portion: ShareSize::Weight(weight),
        }
    }
}

/// A program's message to a model, before it is packed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    pub voice: Framing,
    /// Key of the task instruction, from the charter's registry.
    pub instruction: Option<String>,
    /// Standing instructions of the program. They are never cut.
    pub standing: Text,
    /// Parts that may be left out.
    pub shares: Vec<PacketShare>,
    /// The question. It is never cut or changed.
    pub prompt: Vec<ChatMessage>,
    /// Confidence of the asking side, in thousandths.
    pub confidence_milli: Option<u16>,
    pub risk: Option<PacketRisk>,
}

impl Packet {
    /// A packet that says `prompt` and nothing else.
    pub fn plain(prompt: Vec<ChatMessage>) -> Self {
        Self {
            voice: Framing::Plain,
            prompt,
            ..Self::default()
        }
    }
}
