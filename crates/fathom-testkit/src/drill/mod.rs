//! `drill`: a program that does what its parameters say.
//!
//! A drill works in rounds. In each it asks for its model calls, children and effects all at once, and continues when
//! every one of them is answered. Simulator, host tests and benches share it.

mod params;

use std::collections::BTreeMap;

use fathom_core::budget::amounts::Dimension;
use fathom_core::contract::AgentRole;
use fathom_core::contract::spawn::SpawnRequest;
use fathom_core::contract::stop::{ErrorClass, Refusal, StopReason};
use fathom_core::effect::{DENIED, EffectOutcome, EffectRequest};
use fathom_core::episode::program::{
    Ask, ModelAsk, OnOutage, Program, ProgramError, ProgramFactory, ProgramInput, ProgramView,
};
use fathom_core::episode::result::{
    Decision, EpisodeResult, EpisodeStatus, HandoffTicket, NextAction, ProgramVerdict,
    ResultSummary, clip,
};
use fathom_core::id::AskId;
use fathom_core::journal::command::OutputBlock;
use fathom_core::journal::event::ProgramSpec;
use fathom_core::model::{ChatMessage, Speaker};
use fathom_core::packet::Packet;
use fathom_core::text::Text;
use fathom_programs::BuiltInPrograms;

pub use params::{DrillChild, DrillConfig, DrillEffect, DrillEnding};

/// The program's name.
pub const NAME: &str = "drill";

/// The channel on which a drill reports its rounds.
pub const CHANNEL: &str = "drill";

/// Message of the core when nobody decided about an effect in time.
const EXPIRED: &str = "nobody said yes in time";

/// An ask that is not answered yet.
#[derive(Clone, Debug)]
enum OpenAsks {
    Call(u32),
    Child(DrillChild),
    Effect(EffectRequest),
    Summary,
}

/// Asks in the making, each with the number it will get.
struct DrillAsks {
    next: AskId,
    asks: Vec<Ask>,
}

impl DrillAsks {
    fn new(view: &ProgramView<'_>) -> Self {
        Self {
            next: view.next_ask,
            asks: Vec::new(),
        }
    }

    fn push(&mut self, ask: Ask) -> AskId {
        let id = self.next;
        self.next = id.next();
        self.asks.push(ask);
        id
    }
}

/// The program `drill`, which does what its parameters say.
pub struct DrillProgram {
    params: DrillConfig,
    round: u32,
    open: BTreeMap<AskId, OpenAsks>,
    cancelled_in: Option<u32>,
    retried: u32,
    replies: u32,
    failures: u32,
    answer: String,
    refused: Vec<String>,
}

impl DrillProgram {
    /// Reads the parameters.
    pub fn new(spec: &ProgramSpec) -> Result<Self, ProgramError> {
        let params =
            serde_json::from_str(spec.params.as_str()).map_err(|error| ProgramError::Params {
                name: NAME.to_owned(),
                cause: error.to_string(),
            })?;
        Ok(Self {
            params,
            round: 0,
            open: BTreeMap::new(),
            cancelled_in: None,
            retried: 0,
            replies: 0,
            failures: 0,
            answer: String::new(),
            refused: Vec::new(),
        })
    }

    fn call(&self, place: u32, view: &ProgramView<'_>) -> Ask {
        let prompt = format!("{} ({}.{place})", self.params.prompt, self.round);
        let packet = Packet {
            prompt: vec![ChatMessage::new(Speaker::User, prompt)],
            ..Packet::default()
        };
        Ask::Model(Box::new(ModelAsk {
            output_tokens_max: self.params.output_tokens_max,
            output_tokens_min: self.params.output_tokens_min,
            delivery: self.params.delivery,
            timeout: self.params.timeout,
            on_outage: if self.params.waits_out_outages {
                OnOutage::Wait
            } else {
                OnOutage::Fail
            },
            ..ModelAsk::new(view.model, packet)
        }))
    }

    fn spawn(child: &DrillChild, view: &ProgramView<'_>) -> Ask {
        let contract = child.contract.clone();
        Ask::Spawn(Box::new(SpawnRequest {
            child_type: child.child_type.clone(),
            class: child.class,
            trigger: child.trigger,
            why: "the parameters say so".into(),
            fetch: "an answer".into(),
            return_format: "text".into(),
            goal: child.drill.prompt.as_str().into(),
            role: AgentRole::Creator,
            program: child.drill.spec(),
            contract: contract.unwrap_or_else(|| view.contract.clone()),
            at_least: child.at_least,
            at_most: child.at_most,
            time_max: None,
        }))
    }

    fn ask_for(&mut self, what: OpenAsks, asks: &mut DrillAsks, view: &ProgramView<'_>) {
        let ask = match &what {
            OpenAsks::Call(place) => self.call(*place, view),
            OpenAsks::Child(child) => Self::spawn(child, view),
            OpenAsks::Effect(request) => Ask::Effect(request.clone()),
            OpenAsks::Summary => Ask::Summarise {
                text: Text::new(format!("{} {}", self.params.prompt, self.answer)),
                tokens_max: self.params.output_tokens_max,
            },
        };
        let id = asks.push(ask);
        self.open.insert(id, what);
    }

    /// Continues once everything of the round is answered; rounds without asks pass at once.
    fn go_on(&mut self, asks: &mut DrillAsks, view: &ProgramView<'_>) {
        while self.open.is_empty() && self.round < self.params.rounds {
            let round = self.round;
            for place in 0..self.params.calls {
                self.ask_for(OpenAsks::Call(place), asks, view);
            }
            let children = self.params.children.clone();
            for child in children.into_iter().filter(|child| child.round == round) {
                self.ask_for(OpenAsks::Child(child), asks, view);
            }
            let effects = self.params.effects.clone();
            for effect in effects.into_iter().filter(|effect| effect.round == round) {
                self.ask_for(OpenAsks::Effect(effect.request), asks, view);
            }
            if self.params.summarises {
                self.ask_for(OpenAsks::Summary, asks, view);
            }
            self.round += 1;
            if self.params.emits {
                asks.push(Ask::Emit(OutputBlock {
                    channel: CHANNEL.to_owned(),
                    text: Text::new(format!("{}: round {round}", self.params.prompt)),
                }));
            }
        }
        if self.open.is_empty() {
            self.end(asks, view);
        }
    }

    fn end(&self, asks: &mut DrillAsks, view: &ProgramView<'_>) {
        let (status, stop) = match self.params.ending {
            DrillEnding::Idle => return,
            DrillEnding::Fail => (
                EpisodeStatus::Failed,
                StopReason::Failure {
                    class: ErrorClass::Idle,
                },
            ),
            DrillEnding::Finish | DrillEnding::Abrupt
                if self.replies == 0 && !self.refused.is_empty() =>
            {
                (
                    EpisodeStatus::NeedsReview,
                    StopReason::BudgetExhausted {
                        dimension: view.closing.unwrap_or(Dimension::Calls),
                    },
                )
            }
            DrillEnding::Finish | DrillEnding::Abrupt => (EpisodeStatus::Ok, StopReason::Success),
        };
        if self.params.ending == DrillEnding::Abrupt {
            asks.push(Self::spawn(&DrillChild::default(), view));
            asks.push(self.call(u32::MAX, view));
        }
        let verdict = self.verdict(status, stop);
        asks.push(Ask::Finish(Box::new(verdict)));
    }

    fn verdict(&self, status: EpisodeStatus, stop: StopReason) -> ProgramVerdict {
        let said = format!(
            "{} replies, {} failures, {} refusals",
            self.replies,
            self.failures,
            self.refused.len()
        );
        let next_actions = match status {
            EpisodeStatus::NeedsReview => vec![NextAction::Handoff(HandoffTicket {
                tried: Text::new(clip(&self.params.prompt, 120)),
                known: Text::new(said.clone()),
                asked: "decide whether to go on".into(),
                deadline: None,
            })],
            EpisodeStatus::Ok | EpisodeStatus::Failed => Vec::new(),
        };
        ProgramVerdict {
            status,
            summary: ResultSummary::new(
                [
                    format!("drill: {}", clip(&self.params.prompt, 120)),
                    said,
                    format!("stopped: {stop}"),
                ],
                self.refused
                    .iter()
                    .map(|reason| format!("refused: {reason}")),
            ),
            stop,
            answer: self.partial(),
            report: None,
            artifacts: Vec::new(),
            decisions: vec![Decision {
                what: "the rounds are over".into(),
                rationale: Text::new(format!("{} of them", self.round)),
            }],
            verification_needed: false,
            next_actions,
        }
    }

    /// The first answer of a round makes the other calls superfluous, as many as the parameters say.
    fn cancel(&mut self, asks: &mut DrillAsks) {
        if self.cancelled_in == Some(self.round) {
            return;
        }
        self.cancelled_in = Some(self.round);
        let calls: Vec<AskId> = self
            .open
            .iter()
            .rev()
            .filter(|(_, open)| matches!(open, OpenAsks::Call(_)))
            .map(|(&id, _)| id)
            .take(self.params.cancels as usize)
            .collect();
        for call in calls {
            self.open.remove(&call);
            asks.push(Ask::Cancel(call));
        }
    }

    fn failed(&mut self, what: OpenAsks, asks: &mut DrillAsks, view: &ProgramView<'_>) {
        self.failures += 1;
        if self.retried < self.params.retries {
            self.retried += 1;
            self.ask_for(what, asks, view);
        }
    }

    fn on_refused(
        &mut self,
        what: OpenAsks,
        reason: &Refusal,
        asks: &mut DrillAsks,
        view: &ProgramView<'_>,
    ) {
        self.refused.push(reason.to_string());
        match reason {
            // What is refused for good is not asked for again, and nothing more can be had.
            Refusal::Closing { .. } | Refusal::TokenBudget { .. } | Refusal::Stopping => {
                self.round = self.params.rounds;
            }
            Refusal::Budget { dimension } => match dimension {
                Dimension::Tools | Dimension::Episodes => self.failures += 1,
                Dimension::Tokens | Dimension::Calls | Dimension::Money | Dimension::Time => {
                    self.round = self.params.rounds;
                }
            },
            _ => self.failed(what, asks, view),
        }
    }

    fn on_child(&mut self, result: &EpisodeResult) {
        if let Some(answer) = &result.answer {
            self.replies += 1;
            self.remember(answer.as_str());
        }
    }

    /// Keeps the answer short: its head is enough to tell answers apart.
    fn remember(&mut self, answer: &str) {
        if self.answer.len() < 256 {
            self.answer.push_str(&clip(answer, 40));
        }
    }
}

impl Program for DrillProgram {
    fn on(&mut self, input: ProgramInput<'_>, view: &ProgramView<'_>) -> Vec<Ask> {
        let mut asks = DrillAsks::new(view);
        match input {
            ProgramInput::Start(_) => {}
            ProgramInput::Reply { ask, reply } if self.open.remove(&ask).is_some() => {
                self.replies += 1;
                self.remember(reply.text.as_str());
                self.cancel(&mut asks);
            }
            ProgramInput::Failed { ask, .. } => match self.open.remove(&ask) {
                Some(what) => self.failed(what, &mut asks, view),
                None => return Vec::new(),
            },
            ProgramInput::Child { ask, result, .. } if self.open.remove(&ask).is_some() => {
                self.on_child(result);
            }
            ProgramInput::Effect { ask, outcome } => match (self.open.remove(&ask), outcome) {
                (Some(_), EffectOutcome::Confirmed { .. }) => self.replies += 1,
                (Some(what), EffectOutcome::Failed { detail })
                    if self.params.insists && may_be_wanted_again(detail.as_str()) =>
                {
                    self.failures += 1;
                    self.ask_for(what, &mut asks, view);
                }
                (Some(what), EffectOutcome::Failed { .. } | EffectOutcome::Unknown { .. }) => {
                    self.failed(what, &mut asks, view);
                }
                (None, _) => return Vec::new(),
            },
            ProgramInput::Host { ask, .. } | ProgramInput::CellEnded { ask, .. }
                if self.open.remove(&ask).is_some() => {}
            ProgramInput::Refused { ask, reason } => match self.open.remove(&ask) {
                Some(what) => self.on_refused(what, reason, &mut asks, view),
                None => return Vec::new(),
            },
            ProgramInput::Delta { .. }
            | ProgramInput::Signal(_)
            | ProgramInput::Tick
            | ProgramInput::Reply { .. }
            | ProgramInput::Child { .. }
            | ProgramInput::Host { .. }
            | ProgramInput::Cell { .. }
            | ProgramInput::CellEnded { .. } => return Vec::new(),
        }
        self.go_on(&mut asks, view);
        asks.asks
    }

    fn partial(&self) -> Option<Text> {
        (!self.answer.is_empty()).then(|| Text::new(self.answer.as_str()))
    }
}

/// True if no one denied the effect that failed with this message.
fn may_be_wanted_again(detail: &str) -> bool {
    detail
        .strip_prefix(DENIED)
        .is_none_or(|rule| rule == EXPIRED)
}

/// Makes drills, and the programs that come with the core.
#[derive(Clone, Copy, Debug, Default)]
pub struct DrillPrograms;

impl ProgramFactory for DrillPrograms {
    fn build(&self, spec: &ProgramSpec) -> Result<Box<dyn Program>, ProgramError> {
        match spec.name.as_str() {
            NAME => Ok(Box::new(DrillProgram::new(spec)?)),
            _ => BuiltInPrograms.build(spec),
        }
    }
}
