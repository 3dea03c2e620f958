//! Commands: everything an episode wants the host to do.

use serde::{Deserialize, Serialize};

use crate::budget::amounts::{Amounts, Dimension};
use crate::channel::marker::BlockKind;
use crate::contract::stop::{Refusal, ShortenStage};
use crate::council_bus::Envelope;
use crate::domain::DomainRequest;
use crate::effect::EffectRequest;
use crate::episode::result::EpisodeResult;
use crate::id::{AskId, EpisodeId};
use crate::journal::event::{EpisodeSpec, Signal};
use crate::model::failure::ModelFailure;
use crate::model::{ModelRequest, ModelRole, ReuseGrant};
use crate::packet::{HeaderField, PacketMeta};
use crate::sandbox::{CellAnswer, CellLimits, ContextSource};
use crate::text::{Text, VisitTexts};
use crate::unit::Timestamp;

/// Something an episode waits for beyond the answers to its commands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ExternalWait {
    /// A time; the host answers with a tick.
    Until { at: Timestamp },
    /// A person's decision on an effect. The episode is suspended and its clock stands still.
    Approval { ask: AskId },
    /// A repair of the way to the model. A resumed run tries again.
    Repair { ask: AskId, failure: ModelFailure },
}

/// A piece of output for a channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputBlock {
    pub channel: String,
    pub text: Text,
}

impl OutputBlock {
    /// A block of a model's text. Its channel is its kind: where it goes is for the destination matrix to say.
    pub fn marked(kind: BlockKind, text: Text) -> Self {
        Self {
            channel: kind.as_str().to_owned(),
            text,
        }
    }

    /// The kind of a block that [`OutputBlock::marked`] made.
    pub fn kind(&self) -> Option<BlockKind> {
        BlockKind::from_name(&self.channel)
    }
}

/// Most asks are settled with one question, whose number is then left out.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde wants"
)]
pub(crate) const fn is_first(round: &u16) -> bool {
    *round == 0
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde wants"
)]
const fn is_not(flag: &bool) -> bool {
    !*flag
}

/// An instruction to the host.
// Recorded with the event that they follow from, and compared by a replay: what the fold makes must not depend on
// anything but events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", content = "data", rename_all = "snake_case")]
pub enum Command {
    /// Count the tokens of a request.
    Measure {
        /// For this ask.
        ask: AskId,
        /// For this model.
        model: ModelRole,
        request: ModelRequest,
        /// Texts whose tokens are counted each by itself.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        weigh: Vec<Text>,
        /// An earlier answer to this request would do.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        recall: Option<Box<ReuseGrant>>,
        /// True if any answer that this run got to the same request will do.
        #[serde(default, skip_serializing_if = "is_not")]
        once: bool,
        /// Counts the questions about one ask, so that a late answer to an earlier one is known for what it is.
        #[serde(default, skip_serializing_if = "is_first")]
        round: u16,
    },
    /// Shorten a text.
    Summarise {
        /// For this ask.
        ask: AskId,
        /// Tokens are those of this model.
        model: ModelRole,
        text: Text,
        /// To at most this many tokens.
        tokens_max: u32,
        /// Counts the questions about one ask, so that a late answer to an earlier one is known for what it is.
        #[serde(default, skip_serializing_if = "is_first")]
        round: u16,
    },
    /// Set these amounts aside for good before a call uses them: once this record is durable, calls up to
    /// this total may go out, and a crash counts what no call accounts for as spent.
    Lease {
        /// Total over the episode's life.
        upto: Amounts,
    },
    /// Call a model, once the lease covers `drawn`.
    CallModel {
        /// The ask it belongs to.
        ask: AskId,
        /// Counts the tries.
        attempt: u16,
        model: ModelRole,
        request: ModelRequest,
        /// Facts about the packet that the model does not see.
        packet: PacketMeta,
        /// The most it may use.
        reserved: Amounts,
        /// Total drawn over the episode's life, this call included.
        drawn: Amounts,
        /// Not before this moment.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        not_before: Option<Timestamp>,
    },
    /// Give up a call.
    CancelCall {
        ask: AskId,
        attempt: u16,
    },
    /// Start a child episode.
    Spawn {
        /// The ask it belongs to.
        ask: AskId,
        child: EpisodeId,
        /// All it starts with.
        started: Box<EpisodeSpec>,
    },
    /// Pass a message to a child.
    SignalChild {
        child: EpisodeId,
        signal: Signal,
    },
    /// Run code in the episode's sandbox.
    RunCell {
        /// The ask it belongs to.
        ask: AskId,
        code: Text,
        /// The origin of `context` in the episode's sandbox.
        context: ContextSource,
        limits: CellLimits,
    },
    /// Answer a cell that asked something.
    AnswerCell {
        ask: AskId,
        answer: Box<CellAnswer>,
    },
    /// Have the gateway decide about an effect.
    Propose {
        /// The ask it belongs to.
        ask: AskId,
        effect: EffectRequest,
    },
    /// Carry an effect out, once this record is durable.
    Attempt {
        /// The ask it belongs to.
        ask: AskId,
        effect: EffectRequest,
    },
    /// Ask the platform whether an effect happened.
    Reconcile {
        /// The ask it belongs to.
        ask: AskId,
        effect: EffectRequest,
    },
    /// Look at a domain or, once this record is durable, change it.
    Domain {
        /// The ask it belongs to.
        ask: AskId,
        request: DomainRequest,
    },
    /// Show something, once this record is durable.
    Emit {
        block: OutputBlock,
    },
    /// Wait for something.
    Await {
        awaited: ExternalWait,
    },
    /// Write down that an ask was refused, and tell the program.
    Refuse {
        ask: AskId,
        reason: Refusal,
    },
    /// Write down that a call used more than was reserved.
    ReportOverrun {
        ask: AskId,
        dimension: Dimension,
        reserved: u64,
        used: u64,
    },
    /// Write down that a header field was over its limit, and what came of shortening it.
    ReportShortening {
        /// For this call.
        ask: AskId,
        field: HeaderField,
        /// The stage of the ladder that tried.
        by: ShortenStage,
        /// Most tokens it may have.
        limit: u64,
        /// Tokens of the original.
        before: u64,
        /// Tokens of the shorter form; none if nothing shorter came back.
        after: Option<u64>,
    },
    /// Write down that a lease was lost in a crash.
    ReportForfeit {
        amounts: Amounts,
    },
    Finish {
        result: Box<EpisodeResult>,
    },
    /// Write down a message of the council protocol, for whoever reads the journal.
    Post {
        envelope: Box<Envelope>,
    },
}

impl VisitTexts for Command {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        match self {
            Self::Measure {
                request,
                weigh,
                recall,
                ..
            } => {
                request.each_text(f);
                weigh.each_text(f);
                if let Some(recall) = recall {
                    recall.each_text(f);
                }
            }
            Self::CallModel { request, .. } => request.each_text(f),
            Self::Summarise { text, .. } => f(text),
            Self::Spawn { started, .. } => started.each_text(f),
            Self::RunCell { code, .. } => f(code),
            Self::AnswerCell { answer, .. } => answer.each_text(f),
            Self::Propose { effect, .. }
            | Self::Attempt { effect, .. }
            | Self::Reconcile { effect, .. } => effect.each_text(f),
            Self::Domain { request, .. } => request.each_text(f),
            Self::Emit { block } => f(&mut block.text),
            Self::Await {
                awaited: ExternalWait::Repair { failure, .. },
            } => failure.each_text(f),
            Self::Finish { result } => result.each_text(f),
            Self::Post { envelope } => envelope.each_text(f),
            Self::Lease { .. }
            | Self::CancelCall { .. }
            | Self::SignalChild { .. }
            | Self::Await { .. }
            | Self::Refuse { .. }
            | Self::ReportOverrun { .. }
            | Self::ReportShortening { .. }
            | Self::ReportForfeit { .. } => {}
        }
    }
}
