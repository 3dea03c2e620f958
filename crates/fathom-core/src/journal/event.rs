//! Events: everything an episode ever learns. Its state is a fold over them.

pub use super::record::JournalRecord;
pub use super::signal::{ReleaseReason, Signal};
pub use super::spec::{EpisodeOrigin, EpisodeSpec, ProgramSpec};

use serde::{Deserialize, Serialize};

use crate::budget::amounts::{Amounts, Dimension};
use crate::contract::stop::{Refusal, ShortenStage};
use crate::effect::{DecisionGrounds, EffectOutcome, Evidence, PolicyDecision};
use crate::episode::result::EpisodeResult;
use crate::id::{AskId, Digest, EpisodeId};
use crate::journal::command::is_first;
use crate::model::failure::ModelFailure;
use crate::model::{ModelReply, RequestEstimate};
use crate::packet::HeaderField;
use crate::sandbox::{CellQuestion, CellResult};
use crate::text::{Text, VisitTexts};
use crate::unit::Timestamp;

/// Outcome of a model call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelCallOutcome {
    /// With a reply.
    Replied(ModelReply),
    Failed(ModelFailure),
}

impl VisitTexts for ModelCallOutcome {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        match self {
            Self::Replied(reply) => reply.each_text(f),
            Self::Failed(failure) => failure.each_text(f),
        }
    }
}

/// Something that happened, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// The host's clock when it took the event in.
    pub at: Timestamp,
    #[serde(flatten)]
    pub kind: EventKind,
}

/// The kinds of events.
// Journals of every home hold these, so they only grow: a variant or a field is never renamed or taken away, and a new
// field has `serde(default)`, since older records lack it. Large contents are boxed, for a run holds thousands of events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", content = "data", rename_all = "snake_case")]
pub enum EventKind {
    Started(Box<EpisodeSpec>),
    /// A new owner took the run over.
    Resumed,
    /// The owner let go of the unfinished run.
    Released {
        why: ReleaseReason,
    },
    /// A request was measured.
    Measured {
        /// For this ask.
        ask: AskId,
        measured: RequestEstimate,
        /// Tokens of the texts that were to be weighed, in their order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        weights: Vec<u64>,
        /// An earlier answer, where one was wanted and found.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        recalled: Option<Box<ModelReply>>,
        /// The number of the question.
        #[serde(default, skip_serializing_if = "is_first")]
        round: u16,
    },
    /// A text was shortened.
    Summarised {
        /// For this ask.
        ask: AskId,
        text: Text,
        /// The number of the question.
        #[serde(default, skip_serializing_if = "is_first")]
        round: u16,
    },
    /// The model said a few more words.
    ModelDelta {
        /// In this call.
        ask: AskId,
        /// In this attempt.
        attempt: u16,
        text: Text,
    },
    /// A model call ended.
    ModelReplied {
        ask: AskId,
        /// In this attempt.
        attempt: u16,
        outcome: ModelCallOutcome,
        /// Random bits for the pause before a retry.
        jitter: u16,
    },
    /// A child episode ended.
    ChildFinished {
        child: EpisodeId,
        result: Box<EpisodeResult>,
        /// The head of its chain, so that this chain covers it.
        head: Digest,
    },
    /// Code in a cell asks the host something.
    CellYielded {
        ask: AskId,
        question: Box<CellQuestion>,
    },
    /// A cell ended.
    CellFinished {
        ask: AskId,
        end: Box<CellResult>,
    },
    /// A domain answered.
    DomainAnswered {
        ask: AskId,
        /// The answer, in the domain's own words as JSON.
        answer: Text,
    },
    /// The gateway decided about an effect.
    EffectDecided {
        ask: AskId,
        decision: PolicyDecision,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grounds: Option<Box<DecisionGrounds>>,
    },
    /// An effect was attempted or checked.
    EffectSettled {
        ask: AskId,
        outcome: EffectOutcome,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        evidence: Vec<Evidence>,
    },
    /// A message from outside.
    Signal(Signal),
    /// The governor or the host refused an ask.
    Refused {
        ask: AskId,
        reason: Refusal,
    },
    /// A call used more than was reserved for it.
    Overrun {
        ask: AskId,
        dimension: Dimension,
        reserved: u64,
        used: u64,
    },
    /// A header field was over its limit of tokens, and someone tried to shorten it.
    TokenBudgetOverrun {
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
    /// A new owner found a lease that no call accounts for: it counts as spent.
    Forfeited {
        amounts: Amounts,
    },
    /// A time the episode waited for has come.
    Tick,
}

impl EventKind {
    /// A decision that rests on nothing that is kept.
    pub const fn decided(ask: AskId, decision: PolicyDecision) -> Self {
        Self::EffectDecided {
            ask,
            decision,
            grounds: None,
        }
    }

    /// An end of which nothing was seen.
    pub const fn settled(ask: AskId, outcome: EffectOutcome) -> Self {
        Self::EffectSettled {
            ask,
            outcome,
            evidence: Vec::new(),
        }
    }

    /// The event's name, as the journal writes it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Started(_) => "started",
            Self::Resumed => "resumed",
            Self::Released { .. } => "released",
            Self::Measured { .. } => "measured",
            Self::Summarised { .. } => "summarised",
            Self::ModelDelta { .. } => "model_delta",
            Self::ModelReplied { .. } => "model_replied",
            Self::ChildFinished { .. } => "child_finished",
            Self::CellYielded { .. } => "cell_yielded",
            Self::CellFinished { .. } => "cell_finished",
            Self::DomainAnswered { .. } => "domain_answered",
            Self::EffectDecided { .. } => "effect_decided",
            Self::EffectSettled { .. } => "effect_settled",
            Self::Signal(_) => "signal",
            Self::Refused { .. } => "refused",
            Self::Overrun { .. } => "overrun",
            Self::TokenBudgetOverrun { .. } => "token_budget_overrun",
            Self::Forfeited { .. } => "forfeited",
            Self::Tick => "tick",
        }
    }
}

impl VisitTexts for EventKind {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        match self {
            Self::Started(started) => started.each_text(f),
            Self::Summarised { text, .. } | Self::ModelDelta { text, .. } => f(text),
            Self::DomainAnswered { answer, .. } => f(answer),
            Self::Measured { recalled, .. } => {
                if let Some(reply) = recalled {
                    reply.each_text(f);
                }
            }
            Self::ModelReplied { outcome, .. } => outcome.each_text(f),
            Self::ChildFinished { result, .. } => result.each_text(f),
            Self::CellYielded { question, .. } => question.each_text(f),
            Self::CellFinished { end, .. } => end.each_text(f),
            Self::EffectDecided { grounds, .. } => {
                if let Some(grounds) = grounds {
                    grounds.each_text(f);
                }
            }
            Self::EffectSettled {
                outcome, evidence, ..
            } => {
                outcome.each_text(f);
                evidence.each_text(f);
            }
            Self::Resumed
            | Self::Released { .. }
            | Self::Signal(_)
            | Self::Refused { .. }
            | Self::Overrun { .. }
            | Self::TokenBudgetOverrun { .. }
            | Self::Forfeited { .. }
            | Self::Tick => {}
        }
    }
}
