//! Events: everything an episode ever learns. Its state is a fold over them.

use serde::{Deserialize, Serialize};

use crate::amounts::{Amounts, Budget, Dimension};
use crate::cell::{CellEnd, CellQuestion};
use crate::command::{Command, is_first};
use crate::contract::{ChildType, Contract, Role};
use crate::effect::{EffectOutcome, Evidence, Grounds, KillScope, PolicyDecision};
use crate::failure::ModelFailure;
use crate::id::{AskId, Digest, EpisodeId, Epoch, RunId, Seq};
use crate::model::{Measured, ModelRole, Models, Reply};
use crate::outcome::EpisodeResult;
use crate::packet::{Field, Frame};
use crate::recursion::{Class, Trigger};
use crate::stop::{Refusal, Shortener};
use crate::text::{Text, Texts};
use crate::unit::Timestamp;

/// A program's name and its parameters as JSON text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramSpec {
    /// Name of the program, as `direct`.
    pub name: String,
    pub params: Text,
}

impl Texts for ProgramSpec {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        f(&mut self.params);
    }
}

/// The origin of an episode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Origin {
    Asked,
    /// Another episode spawned it.
    Spawned {
        child_type: ChildType,
        class: Class,
        trigger: Trigger,
        why: Text,
        /// The information or work that is expected.
        fetch: Text,
        /// The form its result must have.
        return_format: Text,
    },
    /// It continues another run from one of its events.
    Forked {
        run: RunId,
        /// The episode that was forked.
        episode: EpisodeId,
        /// The last event taken over.
        seq: Seq,
        head: Digest,
    },
}

impl Texts for Origin {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        match self {
            Self::Spawned {
                why,
                fetch,
                return_format,
                ..
            } => {
                f(why);
                f(fetch);
                f(return_format);
            }
            Self::Asked | Self::Forked { .. } => {}
        }
    }
}

/// All an episode must have before it may start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    pub goal: Text,
    pub role: Role,
    pub program: ProgramSpec,
    pub contract: Contract,
    pub budget: Budget,
    /// Its depth below the root.
    pub depth: u8,
    /// The role of the model it speaks to.
    pub model: ModelRole,
    /// The models of the run.
    pub models: Models,
    /// The frame of every packet.
    #[serde(default)]
    pub frame: Frame,
    /// Untrusted content that its goal may come from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    pub origin: Origin,
}

impl Texts for Started {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        f(&mut self.goal);
        self.program.each_text(f);
        self.frame.each_text(f);
        self.origin.each_text(f);
    }
}

/// A message from outside the episode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Signal {
    /// Stop and keep what there is.
    Cancel,
    /// The kill switch was thrown.
    Kill { scope: KillScope },
    /// A person lifted the kill switch.
    Lift {
        /// The scope that was lifted.
        scope: KillScope,
    },
    /// A person decided on an effect.
    Decide {
        episode: EpisodeId,
        ask: AskId,
        /// Yes or no.
        allow: bool,
        by: String,
        /// The digest of what was decided about: it must be what the gateway asked.
        binding: Digest,
    },
}

/// The reason why an owner let go of an unfinished run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Departure {
    /// A person interrupted it.
    Interrupted,
    /// It waits for a person's decision.
    AwaitingApproval,
    /// A model cannot be reached.
    Outage,
}

/// Outcome of a model call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    /// With a reply.
    Replied(Reply),
    Failed(ModelFailure),
}

impl Texts for CallOutcome {
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
    Started(Box<Started>),
    /// A new owner took the run over.
    Resumed,
    /// The owner let go of the unfinished run.
    Released {
        why: Departure,
    },
    /// A request was measured.
    Measured {
        /// For this ask.
        ask: AskId,
        measured: Measured,
        /// Tokens of the texts that were to be weighed, in their order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        weights: Vec<u64>,
        /// An earlier answer, where one was wanted and found.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        recalled: Option<Box<Reply>>,
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
        outcome: CallOutcome,
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
        end: Box<CellEnd>,
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
        grounds: Option<Box<Grounds>>,
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
        /// In which dimension.
        dimension: Dimension,
        reserved: u64,
        used: u64,
    },
    /// A header field was over its limit of tokens, and someone tried to shorten it.
    TokenBudgetOverrun {
        /// For this call.
        ask: AskId,
        field: Field,
        /// The stage of the ladder that tried.
        by: Shortener,
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

impl Texts for EventKind {
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

/// One line of an episode's chain: an event, and the commands that followed from it.
///
/// The commands are there for the auditor: a replay folds the events again and must arrive at the same ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Its place in the chain.
    pub seq: Seq,
    /// The owner that wrote it.
    pub epoch: Epoch,
    #[serde(flatten)]
    pub event: Event,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<Command>,
}

impl Record {
    /// The result, when this record ends its episode.
    pub fn result(&self) -> Option<&EpisodeResult> {
        self.commands.iter().find_map(|command| match command {
            Command::Finish { result } => Some(&**result),
            _ => None,
        })
    }
}

impl Texts for Record {
    fn each_text(&mut self, f: &mut dyn FnMut(&mut Text)) {
        self.event.kind.each_text(f);
        self.commands.each_text(f);
    }
}
