//! The loop of `phases`: from one model call to the next.

use super::config::PhasesConfig;
use super::reply::read;
use super::report::{
    CommandStatus, PhaseAnswer, PhaseNote, PhaseOutcome, PhaseTrace, PhasesReport,
};
use std::collections::{BTreeSet, VecDeque};

use serde_json::Value;

use fathom_core::budget::amounts::Dimension;
use fathom_core::contract::stop::{Refusal, StopReason};
use fathom_core::episode::program::{
    Ask, ModelAsk, OnOutage, Program, ProgramError, ProgramInput, ProgramView,
};
use fathom_core::episode::result::EpisodeStatus;
use fathom_core::id::AskId;
use fathom_core::journal::event::ProgramSpec;
use fathom_core::model::failure::{FailureKind, ModelFailure};
use fathom_core::model::{ChatMessage, FinishReason, ModelReply, Speaker};
use fathom_core::packet::Packet;
use fathom_core::text::Text;

use super::commands::CommandWork;
use super::context::PhaseContext;
use super::prompts::PhasePrompt;
pub(super) use crate::ask_batch::AskBatch;

/// Name of the program in specifications and journals.
pub const NAME: &str = "phases";

/// The type of the children that do dispatched tasks.
pub const TASK: &str = "task";

/// The domain that keeps what was said in sessions.
pub const HISTORY: &str = "history";

/// The channel on which feedback is recorded.
pub const FEEDBACK: &str = "feedback";

/// Iterations of a loop for each of its phases.
pub(super) const ITERATIONS_PER_PHASE: u32 = 3;

/// Longest payload, and longest reply without one, that the report tells again.
const KEPT_BYTES_MAX: usize = 32 * 1024;

/// Longest arguments of a command that the report and the history tell again.
pub(super) const KEPT_ARGUMENTS_BYTES_MAX: usize = 8 * 1024;

/// Input that the program waits for.
pub(super) enum LoopState {
    Phase(AskId),
    /// Answer to a request of a command.
    Work(AskId, CommandWork),
    Storing(AskId, LoopEnd),
    /// Nothing: it has not begun, or it is over.
    Nothing,
}

/// Next step of the loop once the commands are done.
#[derive(Clone, Debug)]
pub(super) enum AfterCommands {
    Phase(usize),
    End(LoopEnd),
}

/// Cause of the loop's end.
#[derive(Clone, Debug)]
pub(super) struct LoopEnd {
    pub(super) status: EpisodeStatus,
    pub(super) stop: StopReason,
    pub(super) said: String,
}

/// A command under way.
pub(super) struct RunningCommand {
    /// Its place in the report.
    pub(super) note: usize,
    pub(super) work: VecDeque<CommandWork>,
}

/// The `phases` program: asks one phase after another and carries out the commands of their replies.
pub struct PhasesProgram {
    pub(super) params: PhasesConfig,
    pub(super) goal: String,
    pub(super) context: PhaseContext,
    pub(super) waiting: LoopState,
    /// The phase that is under way.
    pub(super) at: usize,
    pub(super) iteration: u32,
    visited: BTreeSet<usize>,
    /// Set when no other phase can follow, with what is short.
    last: Option<Dimension>,
    nudge: Option<&'static str>,
    pub(super) queue: VecDeque<RunningCommand>,
    pub(super) next: AfterCommands,
    /// Last statements in a payload, and outside of one.
    said: String,
    said_bare: String,
    /// Results of commands, for the history.
    pub(super) notes: Vec<String>,
    pub(super) report: PhasesReport,
}

impl PhasesProgram {
    /// Builds the program from the parameters in `spec`.
    pub fn new(spec: &ProgramSpec) -> Result<Self, ProgramError> {
        let params = PhasesConfig::read(spec)?;
        let symbols = params.symbols.iter().map(|symbol| symbol.id.clone());
        Ok(Self {
            report: PhasesReport {
                symbols: symbols.collect(),
                ..PhasesReport::default()
            },
            context: PhaseContext::new(&params),
            params,
            goal: String::new(),
            waiting: LoopState::Nothing,
            at: 0,
            iteration: 0,
            visited: BTreeSet::new(),
            last: None,
            nudge: None,
            queue: VecDeque::new(),
            next: AfterCommands::Phase(0),
            said: String::new(),
            said_bare: String::new(),
            notes: Vec::new(),
        })
    }

    fn iterations_max(&self) -> u32 {
        let phases = u32::try_from(self.params.phases.len()).unwrap_or(u32::MAX);
        phases.saturating_mul(ITERATIONS_PER_PHASE)
    }

    pub(super) fn id(&self, index: usize) -> &str {
        self.params
            .phases
            .get(index)
            .map_or("", |phase| phase.id.as_str())
    }

    /// Calls the model for a phase.
    pub(super) fn enter(&mut self, index: usize, view: &ProgramView<'_>, asks: &mut AskBatch) {
        self.at = index;
        // Visited from the moment it is entered: a phase that names itself as the next one ends the loop.
        self.visited.insert(index);
        self.iteration += 1;
        let is_last = self.iteration == self.iterations_max();
        // Past the closing mark one call is let through.
        self.last = view.closing.or(is_last.then_some(Dimension::Calls));
        asks.tell(&PhaseTrace::PhaseEntered {
            phase: self.id(index).to_owned(),
            iteration: self.iteration,
        });
        let Some(phase) = self.params.phases.get(index) else {
            return;
        };
        // In the last iteration no phase is on offer, so the model has no choice but to conclude.
        let remaining: Vec<&str> = match self.last {
            Some(_) => Vec::new(),
            None => (0..self.params.phases.len())
                .filter(|other| !self.visited.contains(other))
                .map(|other| self.id(other))
                .collect(),
        };
        let turn = PhasePrompt {
            params: &self.params,
            phase,
            remaining: &remaining,
            question: &self.goal,
            nudge: self.nudge,
        };
        let schema = self
            .params
            .structured
            .then(|| Text::new(turn.schema().to_string()));
        let packet = Packet {
            standing: Text::new(self.params.shared.join("\n\n")),
            shares: self.context.shares(),
            prompt: vec![ChatMessage::new(Speaker::User, turn.prompt())],
            ..Packet::default()
        };
        let ask = ModelAsk {
            output_tokens_max: self.params.output_tokens_max,
            output_tokens_min: self.params.output_tokens_max.min(64),
            temperature_milli: self.params.temperature_milli,
            schema,
            timeout: self.params.timeout,
            on_outage: if view.depth == 0 {
                OnOutage::Wait
            } else {
                OnOutage::Fail
            },
            ..ModelAsk::new(view.model, packet)
        };
        self.waiting = LoopState::Phase(asks.push(Ask::Model(Box::new(ask))));
    }

    fn on_reply(&mut self, reply: &ModelReply, view: &ProgramView<'_>, asks: &mut AskBatch) {
        let said = reply.text.as_str();
        let reading = read(said);
        let Some(payload) = reading.payload else {
            // The words of a cut object are torn JSON, which is worse as an answer than what was said before.
            if !reading.is_cut && !reading.words.is_empty() {
                self.said_bare = reading.words;
            }
            self.keep(None, Some(cut_bytes(said, KEPT_BYTES_MAX)));
            if !reading.stated.is_empty() {
                let count = reading.stated.len();
                self.warn(&format!(
                    "{count} commands were not carried out: the reply has no payload"
                ));
            }
            // The two faults need different advice: a shorter reply, or one in the right form.
            let is_cut = reading.is_cut || reply.ending == FinishReason::Truncated;
            let nudge = if is_cut {
                super::prompts::CUT
            } else {
                super::prompts::UNREADABLE
            };
            return self.again(PhaseOutcome::Unreadable, nudge, view, asks);
        };
        self.nudge = None;
        if !reading.words.is_empty() {
            let heard = format!("phase {}: {}", self.id(self.at), reading.words);
            self.context.say(&heard);
            self.said = reading.words;
        }
        // Before the commands run: the model named the next phase without knowing their results.
        self.decide(payload.get("next_phase"), asks);
        // What is too long to be told again is in the journal.
        if said.len() <= KEPT_BYTES_MAX {
            self.keep(Some(Value::Object(payload)), None);
        } else {
            self.keep(None, Some(cut_bytes(said, KEPT_BYTES_MAX)));
        }
        self.take_commands(&reading.stated);
        self.work(view, asks);
    }

    /// Asks the same phase again, or ends when it was asked often enough.
    fn again(
        &mut self,
        outcome: PhaseOutcome,
        nudge: &'static str,
        view: &ProgramView<'_>,
        asks: &mut AskBatch,
    ) {
        let next = self.last.is_none().then_some(self.at);
        self.leave(outcome, None, next, asks);
        if let Some(dimension) = self.last {
            return self.end(
                LoopEnd {
                    status: EpisodeStatus::NeedsReview,
                    stop: StopReason::BudgetExhausted { dimension },
                    said: "the last reply had no payload".to_owned(),
                },
                asks,
            );
        }
        self.warn(&format!(
            "phase `{}` had no payload in iteration {} and was asked again",
            self.id(self.at),
            self.iteration
        ));
        self.nudge = Some(nudge);
        self.enter(self.at, view, asks);
    }

    /// Notes the end of an iteration.
    fn leave(
        &mut self,
        outcome: PhaseOutcome,
        wanted: Option<String>,
        next: Option<usize>,
        asks: &mut AskBatch,
    ) {
        let phase = self.id(self.at).to_owned();
        let iteration = self.iteration;
        asks.tell(&PhaseTrace::PhaseLeft {
            phase: phase.clone(),
            iteration,
            outcome,
            next: next.map(|next| self.id(next).to_owned()),
        });
        self.report.phases.push(PhaseNote {
            id: phase,
            iteration,
            outcome,
            next_phase: wanted,
        });
    }

    fn keep(&mut self, payload: Option<Value>, text: Option<String>) {
        self.report.intermediate_responses.push(PhaseAnswer {
            phase: self.id(self.at).to_owned(),
            iteration: self.iteration,
            payload,
            text,
        });
    }

    pub(super) fn warn(&mut self, warning: &str) {
        self.report.warnings.push(warning.to_owned());
    }

    /// Decides where the loop goes once the commands are done.
    fn decide(&mut self, wanted: Option<&Value>, asks: &mut AskBatch) {
        let done = |said: &str| {
            AfterCommands::End(LoopEnd {
                status: EpisodeStatus::Ok,
                stop: StopReason::Success,
                said: said.to_owned(),
            })
        };
        let name = match wanted {
            None | Some(Value::Null) => None,
            Some(Value::String(name)) => {
                Some(super::context::cut(name, 100)).filter(|name| is_named(name))
            }
            Some(other) => Some(super::context::cut(&other.to_string(), 100)),
        };
        let found = name.as_ref().map(|name| self.params.find(name));
        self.next = match (&name, found) {
            (None, _) | (_, None) => done("no phase follows"),
            (Some(name), Some(None)) => {
                self.warn(&format!("there is no phase `{name}`; the loop ends"));
                done("the next phase is unknown")
            }
            (Some(_), Some(Some(index))) if self.visited.contains(&index) => {
                let id = self.id(index).to_owned();
                self.warn(&format!("phase `{id}` was visited before; the loop ends"));
                done("the next phase was visited before")
            }
            (Some(_), Some(Some(index))) => match self.last {
                None => AfterCommands::Phase(index),
                Some(dimension) => AfterCommands::End(LoopEnd {
                    status: EpisodeStatus::NeedsReview,
                    stop: StopReason::BudgetExhausted { dimension },
                    said: format!("phase `{}` was still to come", self.id(index)),
                }),
            },
        };
        let next = match self.next {
            AfterCommands::Phase(index) => Some(index),
            AfterCommands::End(_) => None,
        };
        self.leave(PhaseOutcome::Ok, name, next, asks);
    }
}

impl PhasesProgram {
    fn on_failed(&mut self, failure: &ModelFailure, view: &ProgramView<'_>, asks: &mut AskBatch) {
        if failure.kind == FailureKind::Empty {
            // The governor counts: the third empty reply in a row ends the episode.
            self.keep(None, None);
            return self.again(PhaseOutcome::Failed, super::prompts::UNREADABLE, view, asks);
        }
        self.leave(PhaseOutcome::Failed, None, None, asks);
        let end = LoopEnd {
            status: EpisodeStatus::Failed,
            stop: failure.as_stop(),
            said: failure.to_string(),
        };
        self.end(end, asks);
    }

    fn on_refused(&mut self, reason: &Refusal, asks: &mut AskBatch) {
        self.leave(PhaseOutcome::Failed, None, None, asks);
        let end = LoopEnd {
            status: reason.as_status(),
            stop: reason.as_stop(),
            said: reason.to_string(),
        };
        self.end(end, asks);
    }

    /// The loop's statement so far.
    pub(super) fn best(&self) -> &str {
        if self.said.is_empty() {
            &self.said_bare
        } else {
            &self.said
        }
    }

    fn hear(&mut self, input: ProgramInput<'_>, view: &ProgramView<'_>, asks: &mut AskBatch) {
        let waiting = std::mem::replace(&mut self.waiting, LoopState::Nothing);
        match (input, waiting) {
            (ProgramInput::Start(started), LoopState::Nothing) => {
                started.goal.as_str().clone_into(&mut self.goal);
                self.enter(0, view, asks);
            }
            (ProgramInput::Reply { ask, reply }, LoopState::Phase(id)) if ask == id => {
                self.on_reply(reply, view, asks);
            }
            (ProgramInput::Failed { ask, failure }, LoopState::Phase(id)) if ask == id => {
                self.on_failed(failure, view, asks);
            }
            (ProgramInput::Refused { ask, reason }, LoopState::Phase(id)) if ask == id => {
                self.on_refused(reason, asks);
            }
            (ProgramInput::Host { ask, text }, LoopState::Work(id, work)) if ask == id => {
                self.on_answer(&work, text, asks);
                self.work(view, asks);
            }
            (ProgramInput::Child { ask, result, .. }, LoopState::Work(id, _)) if ask == id => {
                self.on_task(result);
                self.work(view, asks);
            }
            (ProgramInput::Refused { ask, reason }, LoopState::Work(id, _)) if ask == id => {
                self.settle(CommandStatus::Refused, &reason.to_string());
                self.work(view, asks);
            }
            (ProgramInput::Host { ask, text }, LoopState::Storing(id, end)) if ask == id => {
                self.on_stored(text);
                self.finish(end, asks);
            }
            (ProgramInput::Refused { ask, reason }, LoopState::Storing(id, end)) if ask == id => {
                self.warn(&format!("the session was not kept: {reason}"));
                self.finish(end, asks);
            }
            // Whatever else comes is not what is waited for.
            (_, waiting) => self.waiting = waiting,
        }
    }
}

impl Program for PhasesProgram {
    fn on(&mut self, input: ProgramInput<'_>, view: &ProgramView<'_>) -> Vec<Ask> {
        let mut asks = AskBatch::new(view);
        self.hear(input, view, &mut asks);
        asks.list
    }

    fn partial(&self) -> Option<Text> {
        let best = self.best();
        (!best.is_empty()).then(|| Text::from(best))
    }

    fn report(&self) -> Option<Text> {
        let report = PhasesReport {
            reply: self.best().to_owned(),
            ..self.report.clone()
        };
        serde_json::to_string(&report).ok().map(Text::new)
    }
}

/// True if `name` means a phase, rather than that none follows.
fn is_named(name: &str) -> bool {
    !matches!(
        name.to_ascii_lowercase().as_str(),
        "" | "null" | "none" | "end"
    )
}

/// The beginning of a text, at most so many bytes of it.
fn cut_bytes(text: &str, bytes_max: usize) -> String {
    let end = text.floor_char_boundary(bytes_max);
    text.get(..end).unwrap_or_default().to_owned()
}
