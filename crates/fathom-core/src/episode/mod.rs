//! An episode: a program under its governor, folded over events.

mod calls;
mod effects;
mod failed_program;
pub mod program;
pub mod result;
mod resume;
mod wind_down;

pub use crate::governor::billed;

use effects::PersonDecision;

use std::collections::BTreeSet;

use crate::budget::ledger::{BudgetAccounts, Ledger};
use crate::contract::cap;
use crate::contract::stop::{ErrorClass, Refusal, StopReason};
use crate::effect::KillScope;
use crate::episode::program::{Ask, Program, ProgramFactory, ProgramInput};
use crate::episode::result::{BudgetUse, EpisodeResult, EpisodeStatus, ProgramVerdict};
use crate::fnv::fnv1a;
use crate::governor::{Governor, Tick};
use crate::id::{AskId, EpisodeId, Seq};
use crate::journal::command::Command;
use crate::journal::event::{EpisodeSpec, Event, EventKind, Signal};
use crate::unit::Timestamp;

enum EpisodePhase {
    Running,
    /// The verdict stands; what is in flight is being given up and settled.
    WindingDown(Box<ProgramVerdict>),
    Finished,
}

/// One bounded agent run: a fold over its events.
pub struct Episode<L = Ledger> {
    governor: Governor<L>,
    program: Box<dyn Program>,
    phase: EpisodePhase,
    failures: Option<(ErrorClass, u32)>,
    children_without_delta: u32,
    answers_seen: BTreeSet<u64>,
    depth_reached: u8,
    /// Refusals in a row that the program answered with another ask.
    refusals: u32,
    /// The record that the present event becomes.
    position: Seq,
}

impl<L: BudgetAccounts> Episode<L> {
    /// Begins an episode. There is no other way to make one, so none lacks goal, role, program, contract
    /// or budget.
    pub fn begin(
        id: EpisodeId,
        at: Timestamp,
        started: &EpisodeSpec,
        programs: &dyn ProgramFactory,
    ) -> (Self, Vec<Command>) {
        // A program that cannot be built must not fail the run's owner: the episode ends like any other, with a result.
        let program = programs
            .build(&started.program)
            .unwrap_or_else(|error| Box::new(failed_program::FailedProgram(error)));
        let mut episode = Self {
            program,
            governor: Governor::new(id, started, at),
            phase: EpisodePhase::Running,
            failures: None,
            children_without_delta: 0,
            answers_seen: BTreeSet::new(),
            depth_reached: started.depth,
            refusals: 0,
            position: Seq(0),
        };
        let mut out = vec![episode.governor.timer()];
        episode.tell(ProgramInput::Start(started), at, &mut out);
        episode.rest(&mut out);
        (episode, out)
    }

    /// Takes in an event and says what is to be done.
    pub fn on(&mut self, event: &Event) -> Vec<Command> {
        let mut out = Vec::new();
        if matches!(self.phase, EpisodePhase::Finished) {
            return out;
        }
        // Every event becomes a record, also one that changes nothing here.
        self.position = self.position.next();
        match event.kind {
            // The time between two owners is nobody's: the episode could not have used it.
            EventKind::Resumed => self.governor.skip_to(event.at),
            _ => self.governor.see(event.at),
        }
        if !matches!(event.kind, EventKind::Refused { .. }) {
            self.refusals = 0;
        }
        self.fold(event, &mut out);
        // After the fold, so that time itself settles what no event of this moment did.
        self.expire_approvals(event.at, &mut out);
        // After the fold, since an answer that came in the last moment still counts.
        if matches!(self.phase, EpisodePhase::Running) && self.governor.is_out_of_time() {
            let dimension = crate::budget::amounts::Dimension::Time;
            self.stop(StopReason::BudgetExhausted { dimension }, &mut out);
        }
        self.rest(&mut out);
        out
    }

    /// The books of the episode, for observers.
    pub fn accounts(&self) -> &L {
        self.governor.accounts()
    }

    /// The specification that the episode was started with.
    pub fn started(&self) -> &EpisodeSpec {
        self.governor.started()
    }

    /// Budget used so far.
    pub fn budget(&self) -> BudgetUse {
        self.governor.budget()
    }

    /// The kill switches it was told of and that were not lifted.
    pub fn kills(&self) -> &[KillScope] {
        self.governor.kills()
    }

    /// True if all that is outstanding waits for a person, or is held behind what does.
    pub fn waits_for_person(&self) -> bool {
        self.governor.waits_for_person()
    }

    /// True if all that is outstanding waits for a person or for a child, or is held behind what does.
    pub fn is_blocked(&self) -> bool {
        self.governor.is_blocked()
    }

    /// True if a call waits until the way to its model is repaired.
    pub fn is_stalled(&self) -> bool {
        self.governor.is_stalled()
    }

    fn fold(&mut self, event: &Event, out: &mut Vec<Command>) {
        let at = event.at;
        match &event.kind {
            // An episode begins once, in `begin`; a second start changes nothing.
            EventKind::Started(_) => {}
            EventKind::Overrun { .. }
            | EventKind::Forfeited { .. }
            | EventKind::TokenBudgetOverrun { .. } => self.governor.on_reported(&event.kind),
            EventKind::Resumed => self.resume(at, out),
            EventKind::Released { .. } => self.governor.release(),
            EventKind::Measured {
                ask,
                measured,
                weights,
                recalled,
                round,
            } => {
                let recalled = recalled.as_deref();
                self.governor
                    .on_measured(*ask, *measured, weights, recalled, *round, out);
                self.on_recalled(at, out);
            }
            EventKind::ModelDelta { ask, attempt, text } => {
                if self.governor.is_on_the_wire(*ask, *attempt) {
                    let (ask, attempt) = (*ask, *attempt);
                    self.tell(ProgramInput::Delta { ask, attempt, text }, at, out);
                }
            }
            EventKind::ModelReplied {
                ask,
                attempt,
                outcome,
                jitter,
            } => self.on_replied((*ask, *attempt), outcome, *jitter, at, out),
            EventKind::ChildFinished { child, result, .. } => {
                self.on_child(child, result, at, out);
            }
            EventKind::Summarised { ask, text, round } => {
                let is_for_call = self.governor.take_summary(*ask, text, *round, out);
                if !is_for_call && self.governor.close_host_ask(*ask) {
                    self.tell(ProgramInput::Host { ask: *ask, text }, at, out);
                }
            }
            EventKind::DomainAnswered { ask, answer } => {
                if self.governor.close_domain_ask(*ask, answer) {
                    let (ask, text) = (*ask, answer);
                    self.tell(ProgramInput::Host { ask, text }, at, out);
                }
            }
            EventKind::CellFinished { ask, end, .. } => {
                if self.governor.close_cell(*ask) {
                    self.tell(ProgramInput::CellEnded { ask: *ask, end }, at, out);
                }
            }
            EventKind::CellYielded { ask, question, .. } => {
                if self.governor.has_cell(*ask) {
                    let ask = *ask;
                    self.tell(ProgramInput::Cell { ask, question }, at, out);
                }
            }
            EventKind::EffectDecided { ask, decision, .. } => {
                self.on_decided(*ask, decision, at, out);
            }
            EventKind::EffectSettled { ask, outcome, .. } => {
                self.on_settled(*ask, outcome, at, out);
            }
            EventKind::Signal(signal) => self.on_signal(signal, at, out),
            EventKind::Refused { ask, reason } => self.on_refused(*ask, reason, at, out),
            EventKind::Tick => {
                let tick = self.governor.take_wake(at);
                if tick == Tick::Woke {
                    self.tell(ProgramInput::Tick, at, out);
                }
                self.governor.set_timer_again(tick, out);
            }
        }
    }

    /// Tells the program something and takes in what it asks for. A stopping program is told nothing more.
    fn tell(&mut self, input: ProgramInput<'_>, at: Timestamp, out: &mut Vec<Command>) {
        if !matches!(self.phase, EpisodePhase::Running) {
            return;
        }
        let view = self.governor.view(at);
        let mut asks = self.program.on(input, &view);
        let end = asks.iter().position(|ask| matches!(ask, Ask::Finish(_)));
        // Asks after `Finish` are dropped, for their answers would reach nobody. Asks before it are taken: they may
        // show something or post a message.
        let finish = end.and_then(|end| asks.drain(end..).next());
        self.governor.take(asks, out);
        if let Some(Ask::Finish(verdict)) = finish {
            self.wind_down(verdict, out);
        }
    }

    fn on_child(
        &mut self,
        child: &EpisodeId,
        result: &EpisodeResult,
        at: Timestamp,
        out: &mut Vec<Command>,
    ) {
        let Some(closed) = self.governor.close_child(child, result) else {
            return;
        };
        self.depth_reached = self.depth_reached.max(result.depth_reached);
        // Parts of one input may well have the same answer, and each failure is told to the code that asked for it.
        if !closed.is_part_of_input && self.is_stopped_by(result, out) {
            return;
        }
        let ask = closed.ask;
        self.tell(ProgramInput::Child { ask, child, result }, at, out);
        self.governor.pump(out);
    }

    /// Counts what a child brought: too many in a row with nothing new, or failed, stop the episode.
    fn is_stopped_by(&mut self, result: &EpisodeResult, out: &mut Vec<Command>) -> bool {
        let answer = result.answer.as_ref().filter(|answer| !answer.is_blank());
        // Hashes are enough: two different answers that share one would at worst count as one without news.
        let is_new =
            answer.is_some_and(|answer| self.answers_seen.insert(fnv1a(answer.as_str().trim())));
        self.children_without_delta = if is_new {
            0
        } else {
            self.children_without_delta + 1
        };
        let stops = self.governor.started().contract.recursion.stop_conditions;
        if result.status == EpisodeStatus::Failed {
            if self.count_failure(ErrorClass::Child, out) {
                return true;
            }
        } else {
            self.failures = None;
        }
        // A limit of zero would stop the episode at a child that did bring something new.
        let stop = self.children_without_delta >= stops.no_delta_children_max.max(1)
            && matches!(self.phase, EpisodePhase::Running);
        if stop {
            self.stop(StopReason::NoNewInformation, out);
        }
        stop
    }

    fn on_signal(&mut self, signal: &Signal, at: Timestamp, out: &mut Vec<Command>) {
        match signal {
            Signal::Cancel => self.stop(StopReason::Cancelled, out),
            Signal::Kill { scope } => {
                self.governor.kill(scope);
                // A narrower switch stops what it covers when that is admitted or sent; thinking may go on.
                if *scope == KillScope::Global {
                    let scope = scope.clone();
                    self.stop(StopReason::KillSwitch { scope }, out);
                }
            }
            Signal::Lift { scope } => self.governor.lift(scope),
            Signal::Decide {
                episode,
                ask,
                allow,
                by,
                binding,
            } => {
                if episode == self.governor.id() {
                    let word = PersonDecision {
                        allow: *allow,
                        by,
                        binding,
                    };
                    self.on_person_decided(*ask, &word, at, out);
                }
            }
        }
        self.tell(ProgramInput::Signal(signal), at, out);
    }

    fn on_refused(&mut self, id: AskId, reason: &Refusal, at: Timestamp, out: &mut Vec<Command>) {
        if !self.governor.close_refused(id, out) {
            return;
        }
        let asked = self.governor.next_ask();
        self.tell(ProgramInput::Refused { ask: id, reason }, at, out);
        // Refusals come back at once, so a program that asks on and on would never let go.
        self.refusals += u32::from(self.governor.next_ask() != asked);
        let count = self.refusals;
        if count >= cap::REFUSALS_MAX {
            let class = ErrorClass::Refused;
            self.stop(StopReason::RepeatedFailure { class, count }, out);
        }
    }

    /// Counts a failure and stops the episode when the same one came too often.
    fn count_failure(&mut self, class: ErrorClass, out: &mut Vec<Command>) -> bool {
        let count = match self.failures {
            Some((last, count)) if last == class => count + 1,
            _ => 1,
        };
        self.failures = Some((class, count));
        let stops = self.governor.started().contract.recursion.stop_conditions;
        let stop =
            count >= stops.same_error_max.max(1) && matches!(self.phase, EpisodePhase::Running);
        if stop {
            self.stop(StopReason::RepeatedFailure { class, count }, out);
        }
        stop
    }
}
