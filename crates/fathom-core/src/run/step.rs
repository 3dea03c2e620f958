//! Exchange between a run and its host: records out to the log, steps out to be carried out.

use crate::effect::{EffectPermit, EffectRequest};
use crate::episode::result::EpisodeResult;
use crate::id::{AskId, Digest, EpisodeId, RunId, Seq};
use crate::journal::command::{Command, OutputBlock};
use crate::journal::event::JournalRecord;
use crate::model::failure::ModelFailure;
use crate::model::{ModelReply, ModelRequest, ModelRole, ReuseGrant, ReuseSource};
use crate::text::Text;
use crate::unit::Timestamp;

/// The extent of a log, counted in records over all its runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogPosition(pub u64);

/// A log's receipt for a record.
#[derive(Clone, Copy, Debug)]
pub struct AppendReceipt {
    /// Durable once the log reaches this far.
    pub position: LogPosition,
    /// Head of the episode's chain, this record included.
    pub head: Digest,
}

/// The destination of records. Taking one is quick; whether it is durable is learnt later.
pub trait RecordLog {
    /// Takes a record.
    fn append(&mut self, episode: &EpisodeId, record: JournalRecord) -> AppendReceipt;
}

/// The person's act that a run waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunWait {
    /// An effect needs a decision.
    Approval,
    /// A model cannot be reached.
    Outage(ModelFailure),
}

/// A reply, and where in the run it is written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedReply {
    pub reply: ModelReply,
    /// To this episode.
    pub episode: EpisodeId,
    /// In this record of it.
    pub seq: Seq,
}

impl RecordedReply {
    /// The reply as it stands for another call of the run.
    pub fn again(&self, run: RunId) -> ModelReply {
        self.reply.again(ReuseSource {
            run,
            episode: self.episode.clone(),
            seq: self.seq,
            similarity_milli: 1000,
        })
    }
}

/// Something to carry out.
#[derive(Debug, PartialEq, Eq)]
pub enum HostStep {
    /// Count a request's tokens and answer with `Measured`.
    Measure {
        episode: EpisodeId,
        ask: AskId,
        model: ModelRole,
        request: ModelRequest,
        /// Texts whose tokens are counted each by itself.
        weigh: Vec<Text>,
        /// An earlier answer would do.
        recall: Option<Box<ReuseGrant>>,
        /// An earlier reply to the same request in this run; it is the answer.
        said: Option<Box<RecordedReply>>,
        /// The number of the question, for the answer.
        round: u16,
    },
    /// Call a model and answer with `ModelReplied`.
    Call {
        episode: EpisodeId,
        ask: AskId,
        attempt: u16,
        model: ModelRole,
        request: ModelRequest,
        not_before: Option<Timestamp>,
    },
    /// Give up a call; it still answers with `ModelReplied`.
    Cancel {
        episode: EpisodeId,
        ask: AskId,
        attempt: u16,
    },
    /// Answer with `Tick` at this time.
    Timer { episode: EpisodeId, at: Timestamp },
    /// Decide about an effect and answer with `EffectDecided`.
    Decide {
        episode: EpisodeId,
        ask: AskId,
        effect: EffectRequest,
    },
    /// Carry out an effect and answer with `EffectSettled`. Its intent is durable.
    Attempt(EffectPermit),
    /// Ask whether an effect happened and answer with `EffectSettled`.
    Reconcile {
        episode: EpisodeId,
        ask: AskId,
        effect: EffectRequest,
    },
    /// Summarise, run a cell or append to a domain; answer in kind or with `Refused`.
    Host {
        episode: EpisodeId,
        ask: AskId,
        command: Command,
    },
    /// Show a block. Its record is durable.
    Emit {
        episode: EpisodeId,
        block: OutputBlock,
    },
    /// A child episode is over: what it held here can go.
    Over { episode: EpisodeId },
    /// Nothing moves until a person acts: let go of the run.
    Waiting(RunWait),
    /// The run is over. Its last record is durable.
    Finished(Box<EpisodeResult>),
}

/// A difference between what the journal says and what a fold of its events gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayDifference {
    pub episode: EpisodeId,
    pub seq: Seq,
    /// The commands in the journal.
    pub recorded: Vec<Command>,
    /// The commands of the fold.
    pub folded: Vec<Command>,
}
