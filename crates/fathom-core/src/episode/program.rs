//! Programs: small state machines that ask. They hold no limit, so they can forget none.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::budget::amounts::{Amounts, Dimension};
use crate::contract::Contract;
use crate::contract::spawn::SpawnRequest;
use crate::contract::stop::Refusal;
use crate::council_bus::MessageDraft;
use crate::domain::DomainRequest;
use crate::effect::{EffectOutcome, EffectRequest};
use crate::episode::result::{EpisodeResult, ProgramVerdict};
use crate::governor::pending::{PendingAsk, PendingAsks};
use crate::id::{AskId, EpisodeId};
use crate::journal::command::OutputBlock;
use crate::journal::event::{EpisodeSpec, ProgramSpec, Signal};
use crate::model::failure::ModelFailure;
use crate::model::tool_call::ToolSpec;
use crate::model::{ModelReply, ModelRole, ReplyMode, ReuseGrant};
use crate::packet::Packet;
use crate::sandbox::{CellAnswer, CellLimits, CellQuestion, CellResult, ContextSource};
use crate::text::Text;
use crate::unit::{Millis, Timestamp};

/// The reaction to an outage that retries did not outlast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnOutage {
    /// Tell the program.
    Fail,
    /// Tell the program and do not count it: what is asked many times over may fail many times over.
    Tell,
    /// Keep the ask and wait until someone resumes the run.
    Wait,
}

/// A model call that a program wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelAsk {
    pub model: ModelRole,
    pub packet: Packet,
    /// Most tokens the program would like back.
    pub output_tokens_max: u32,
    /// The output cap below which the reply would be of no use.
    pub output_tokens_min: u32,
    /// Sampling temperature in thousandths; `None` leaves it to the provider.
    pub temperature_milli: Option<u16>,
    /// JSON schema (as JSON text) that the reply must meet.
    pub schema: Option<Text>,
    /// Regular expression that the whole reply must match.
    pub pattern: Option<Text>,
    /// Seed of the model's random choice.
    pub seed: Option<u32>,
    /// Tools that the model may want called.
    pub tools: Vec<ToolSpec>,
    /// Leave to use an earlier answer, which costs nothing.
    pub recall: Option<ReuseGrant>,
    /// True if any answer that the run got to the same request will do.
    pub once: bool,
    /// Whole or streamed.
    pub delivery: ReplyMode,
    /// Longest time one attempt may take.
    pub timeout: Millis,
    pub on_outage: OnOutage,
    /// True if it may be the one call that is left past the closing mark.
    pub may_close: bool,
}

impl ModelAsk {
    /// A call with the usual settings.
    pub const fn new(model: ModelRole, packet: Packet) -> Self {
        Self {
            model,
            packet,
            output_tokens_max: 1024,
            output_tokens_min: 32,
            temperature_milli: None,
            schema: None,
            pattern: None,
            seed: None,
            tools: Vec::new(),
            recall: None,
            once: false,
            delivery: ReplyMode::Streamed,
            timeout: Millis(60_000),
            on_outage: OnOutage::Fail,
            may_close: true,
        }
    }
}

/// Something a program asks for. Asks returned together are numbered in order from [`ProgramView::next_ask`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// A model call.
    Model(Box<ModelAsk>),
    /// A child episode. Those asked for together share what is left.
    Spawn(Box<SpawnRequest>),
    /// An effect.
    Effect(EffectRequest),
    /// A shorter text.
    Summarise {
        text: Text,
        /// Its new length, at most.
        tokens_max: u32,
    },
    /// Code to run.
    RunCell {
        code: Text,
        /// The origin of `context` in the sandbox. All cells of an episode name the same.
        context: ContextSource,
        limits: CellLimits,
    },
    /// Answer a cell that asked something.
    Answer {
        /// The ask that ran the cell.
        cell: AskId,
        answer: Box<CellAnswer>,
    },
    /// Look at a domain or change it.
    Domain(DomainRequest),
    /// Give up an earlier call or child.
    Cancel(AskId),
    /// Show something.
    Emit(OutputBlock),
    /// End the episode.
    Finish(Box<ProgramVerdict>),
    /// Put a message on the bus: it stands in the record from then on.
    Post(Box<MessageDraft>),
    /// Be told of this moment when it comes, with [`ProgramInput::Tick`]. The last one asked for holds; an episode that waits
    /// for a person may be told when it goes on.
    Wake(Timestamp),
}

/// The inputs of a program.
#[derive(Clone, Copy, Debug)]
pub enum ProgramInput<'a> {
    Start(&'a EpisodeSpec),
    /// The model said a few more words.
    Delta {
        /// In this call.
        ask: AskId,
        /// In this attempt.
        attempt: u16,
        text: &'a Text,
    },
    Reply {
        /// To this call.
        ask: AskId,
        reply: &'a ModelReply,
    },
    /// A model call failed for good.
    Failed {
        ask: AskId,
        failure: &'a ModelFailure,
    },
    /// A child ended.
    Child {
        /// The ask that spawned it.
        ask: AskId,
        child: &'a EpisodeId,
        result: &'a EpisodeResult,
    },
    /// An effect ended.
    Effect {
        ask: AskId,
        /// The outcome. `Unknown` here means that even the platform could not say.
        outcome: &'a EffectOutcome,
    },
    /// A text was shortened, or a domain answered.
    Host {
        ask: AskId,
        text: &'a Text,
    },
    /// A cell asks something.
    Cell {
        /// The ask that ran it.
        ask: AskId,
        question: &'a CellQuestion,
    },
    /// A cell ended.
    CellEnded {
        /// The ask that ran it.
        ask: AskId,
        end: &'a CellResult,
    },
    /// An ask was refused.
    Refused {
        ask: AskId,
        reason: &'a Refusal,
    },
    /// A message from outside that does not stop the episode.
    Signal(&'a Signal),
    /// The moment that was waited for has come.
    Tick,
}

/// A program's view of its surroundings.
#[derive(Clone, Copy, Debug)]
pub struct ProgramView<'a> {
    /// The episode it works in.
    pub episode: &'a EpisodeId,
    /// The number its next ask will get.
    pub next_ask: AskId,
    /// The host's clock.
    pub at: Timestamp,
    pub contract: &'a Contract,
    /// Its depth below the root.
    pub depth: u8,
    /// The model it speaks to.
    pub model: ModelRole,
    pub left: Amounts,
    pub time_left: Millis,
    /// Set once it may only finish or hand off, with the dimension that ran low.
    pub closing: Option<Dimension>,
    /// Its asks that are not settled yet.
    pub(crate) pending: &'a PendingAsks,
}

impl ProgramView<'_> {
    /// True for a call that was sent and is not settled yet.
    pub fn was_sent(&self, ask: AskId) -> bool {
        self.pending.get(ask).is_some_and(PendingAsk::was_sent)
    }
}

/// The behaviour of an episode: a program sees inputs and asks for what comes next.
pub trait Program: Send {
    /// Takes in what happened and asks for what comes next.
    fn on(&mut self, input: ProgramInput<'_>, view: &ProgramView<'_>) -> Vec<Ask>;

    /// The best answer so far, kept whatever stops the episode.
    fn partial(&self) -> Option<Text>;

    /// The program's findings so far in a form of its own, kept whatever stops the episode.
    fn report(&self) -> Option<Text> {
        None
    }
}

/// A program that nobody knows, or parameters that it does not take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// No such program.
    #[error("there is no program `{0}`")]
    Unknown(String),
    /// The parameters do not fit.
    #[error("the parameters of program `{name}` are not valid: {cause}")]
    Params { name: String, cause: String },
}

impl ProgramError {
    /// Parameters that the program does not take.
    pub fn params(name: &str, cause: impl Into<String>) -> Self {
        Self::Params {
            name: name.to_owned(),
            cause: cause.into(),
        }
    }
}

impl ProgramSpec {
    /// A program with these parameters.
    pub fn new(name: &str, params: &impl Serialize) -> Self {
        // A struct of strings, numbers and JSON always has a JSON form.
        let params = serde_json::to_string(params).unwrap_or_default();
        Self {
            name: name.to_owned(),
            params: Text::new(params),
        }
    }

    /// Reads the parameters.
    pub fn read<P: DeserializeOwned>(&self) -> Result<P, ProgramError> {
        serde_json::from_str(self.params.as_str())
            .map_err(|error| ProgramError::params(&self.name, error.to_string()))
    }

    /// Reads the parameters; none are the usual ones.
    pub fn read_or_usual<P: DeserializeOwned + Default>(&self) -> Result<P, ProgramError> {
        if self.params.as_str().is_empty() {
            return Ok(P::default());
        }
        self.read()
    }
}

/// Makes programs from their specifications.
pub trait ProgramFactory: Send + Sync {
    /// Builds the program that `spec` names.
    fn build(&self, spec: &ProgramSpec) -> Result<Box<dyn Program>, ProgramError>;
}
