//! An episode: a program under its governor, folded over events.

mod calls;
mod effects;
mod ending;
mod resuming;
mod unbuildable;

use effects::PersonsWord;

use std::collections::BTreeSet;

use crate::amounts::Amounts;
use crate::command::Command;
use crate::contract::cap;
use crate::effect::{EffectState, KillScope};
use crate::event::{CallOutcome, Event, EventKind, Origin, Signal, Started};
use crate::failure::{Billing, ModelFailure};
use crate::governor::Governor;
use crate::hash::fnv1a;
use crate::id::{AskId, EpisodeId, Seq};
use crate::ledger::{Accounts, Ledger, closing};
use crate::model::{Measured, Reply};
use crate::outcome::{BudgetUse, EpisodeResult, Status, Verdict};
use crate::pending::Pending;
use crate::program::{Ask, Input, Program, Programs, View};
use crate::recursion::{Class, Trigger};
use crate::stop::{ErrorClass, Refusal, StopReason};
use crate::text::Text;
use crate::unit::Timestamp;

enum Phase {
    Running,
    /// The verdict stands; what is in flight is being given up and settled.
    WindingDown(Box<Verdict>),
    Finished,
}

/// One bounded agent run: a fold over its events.
pub struct Episode<L = Ledger> {
    governor: Governor<L>,
    program: Box<dyn Program>,
    phase: Phase,
    /// Set while no owner holds the run.
    released: bool,
    failures: Option<(ErrorClass, u32)>,
    children_without_delta: u32,
    answers_seen: BTreeSet<u64>,
    depth_reached: u8,
    /// Refusals in a row that the program answered with another ask.
    refusals: u32,
    /// The record that the present event becomes.
    position: Seq,
}

impl<L: Accounts> Episode<L> {
    /// Begins an episode. There is no other way to make one, so none lacks goal, role, program, contract
    /// or budget.
    pub fn begin(
        id: EpisodeId,
        at: Timestamp,
        started: &Started,
        programs: &dyn Programs,
    ) -> (Self, Vec<Command>) {
        let program = programs
            .build(&started.program)
            .unwrap_or_else(|error| Box::new(unbuildable::Unbuildable(error)));
        let mut episode = Self {
            program,
            governor: Governor::new(id, started, at),
            phase: Phase::Running,
            released: false,
            failures: None,
            children_without_delta: 0,
            answers_seen: BTreeSet::new(),
            depth_reached: started.depth,
            refusals: 0,
            position: Seq(0),
        };
        let mut out = vec![episode.governor.timer()];
        episode.tell(Input::Start(started), at, &mut out);
        episode.rest(&mut out);
        (episode, out)
    }

    /// Takes in an event and says what is to be done.
    pub fn on(&mut self, event: &Event) -> Vec<Command> {
        let mut out = Vec::new();
        if matches!(self.phase, Phase::Finished) {
            return out;
        }
        self.position = self.position.next();
        match event.kind {
            EventKind::Resumed => self.governor.clock.skip_to(event.at),
            _ => self.governor.clock.see(event.at),
        }
        if !matches!(event.kind, EventKind::Refused { .. }) {
            self.refusals = 0;
        }
        self.fold(event, &mut out);
        self.expire_approvals(event.at, &mut out);
        if matches!(self.phase, Phase::Running) && self.governor.is_out_of_time() {
            let dimension = crate::amounts::Dimension::Time;
            self.stop(StopReason::BudgetExhausted { dimension }, &mut out);
        }
        self.rest(&mut out);
        out
    }

    /// What the books say, for those who look on.
    pub fn accounts(&self) -> &L {
        &self.governor.ledger
    }

    /// What the episode was started with.
    pub fn started(&self) -> &Started {
        &self.governor.started
    }

    /// Budget used so far.
    pub fn budget(&self) -> BudgetUse {
        BudgetUse {
            limit: self.governor.ledger.limit(),
            spent: self.governor.ledger.spent(),
            time_limit: self.governor.clock.limit(),
            time_spent: self.governor.clock.active(),
        }
    }

    /// The kill switches it was told of and that were not lifted.
    pub fn kills(&self) -> &[KillScope] {
        &self.governor.killed
    }

    /// Whether all that is outstanding waits for a person, or is held behind what does.
    pub fn waits_for_person(&self) -> bool {
        self.waits_only_for(Pending::waits_for_person)
    }

    /// Whether all that is outstanding waits for a person or for a child, or is held behind what does.
    pub fn is_blocked(&self) -> bool {
        self.waits_only_for(|p| p.waits_for_person() || matches!(p, Pending::Child { .. }))
    }

    /// Whether a call waits for someone who mends what lies between us and the model.
    pub fn is_stalled(&self) -> bool {
        let mut pending = self.governor.pending.values();
        pending.any(|pending| matches!(pending, Pending::Stalled { .. }))
    }

    fn waits_only_for(&self, awaited: impl Fn(&Pending) -> bool) -> bool {
        let pending = &self.governor.pending;
        // In this order: the first call of a thousand that are out settles it.
        pending.values().all(|p| awaited(p) || p.is_held()) && pending.values().any(&awaited)
    }

    fn fold(&mut self, event: &Event, out: &mut Vec<Command>) {
        let at = event.at;
        match &event.kind {
            // An episode begins once, in `begin`; a second start changes nothing.
            EventKind::Started(_) => {}
            EventKind::Overrun { .. }
            | EventKind::Forfeited { .. }
            | EventKind::TokenBudgetOverrun { .. } => self.on_reported(&event.kind),
            EventKind::Resumed => self.resume(at, out),
            EventKind::Released { .. } => {
                self.governor.clock.pause(true);
                self.released = true;
            }
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
                if self.is_on_the_wire(*ask, *attempt) {
                    let (ask, attempt) = (*ask, *attempt);
                    self.tell(Input::Delta { ask, attempt, text }, at, out);
                }
            }
            EventKind::ModelReplied {
                ask,
                attempt,
                outcome,
                jitter,
            } => {
                if self.is_on_the_wire(*ask, *attempt) {
                    self.on_replied(*ask, outcome, *jitter, at, out);
                }
            }
            EventKind::ChildFinished { child, result, .. } => {
                self.on_child(child, result, at, out);
            }
            EventKind::Summarised { ask, text, round }
                if matches!(self.governor.pending.get(ask), Some(Pending::Packing(_))) =>
            {
                if self.governor.awaits_summary(*ask, *round) {
                    self.governor.on_shortened(*ask, Some(text), out);
                }
            }
            EventKind::Summarised { ask, text, .. } => {
                if let Some(Pending::Host(_)) = self.governor.pending.get(ask) {
                    self.on_host(*ask, text, at, out);
                }
            }
            EventKind::DomainAnswered { ask, answer } => {
                if let Some(Pending::Host(Command::Domain { request, .. })) =
                    self.governor.pending.get(ask)
                {
                    let request = request.clone();
                    self.governor.saw_domain(&request, answer);
                    self.on_host(*ask, answer, at, out);
                }
            }
            EventKind::CellFinished { .. } | EventKind::CellYielded { .. } => {
                self.on_cell(&event.kind, at, out);
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
                let rang = self.governor.take_wake(at);
                if rang {
                    self.tell(Input::Tick, at, out);
                }
                // A clock that stands still sets its timer when it goes on.
                let (governor, clock) = (&self.governor, &self.governor.clock);
                if !(rang && governor.wake.is_some()) && clock.left().0 > 0 && !clock.is_paused() {
                    out.push(self.governor.timer());
                }
            }
        }
    }

    /// Tells the program something and takes in what it asks for. A stopping program is told nothing more.
    fn tell(&mut self, input: Input<'_>, at: Timestamp, out: &mut Vec<Command>) {
        if !matches!(self.phase, Phase::Running) {
            return;
        }
        let view = View {
            episode: &self.governor.id,
            next_ask: self.governor.next_ask,
            at,
            contract: &self.governor.started.contract,
            depth: self.governor.started.depth,
            model: self.governor.started.model,
            left: self.governor.ledger.left(),
            time_left: self.governor.clock.left(),
            closing: closing(&self.governor.ledger),
            pending: &self.governor.pending,
        };
        let mut asks = self.program.on(input, &view);
        let end = asks.iter().position(|ask| matches!(ask, Ask::Finish(_)));
        let finish = end.and_then(|end| asks.drain(end..).next());
        self.governor.take(asks, out);
        if let Some(Ask::Finish(verdict)) = finish {
            self.wind_down(verdict, out);
        }
    }

    /// A cell asked something, or ended.
    fn on_cell(&mut self, kind: &EventKind, at: Timestamp, out: &mut Vec<Command>) {
        let (EventKind::CellFinished { ask, .. } | EventKind::CellYielded { ask, .. }) = kind
        else {
            return;
        };
        let ask = *ask;
        let Some(Pending::Host(Command::RunCell { .. })) = self.governor.pending.get(&ask) else {
            return;
        };
        match kind {
            EventKind::CellFinished { end, .. } => {
                self.governor.pending.remove(ask);
                self.tell(Input::CellEnded { ask, end }, at, out);
            }
            EventKind::CellYielded { question, .. } => {
                self.tell(Input::Cell { ask, question }, at, out);
            }
            _ => {}
        }
    }

    /// The host has done what costs no budget.
    fn on_host(&mut self, ask: AskId, text: &Text, at: Timestamp, out: &mut Vec<Command>) {
        self.governor.pending.remove(ask);
        self.tell(Input::Host { ask, text }, at, out);
    }

    fn on_child(
        &mut self,
        child: &EpisodeId,
        result: &EpisodeResult,
        at: Timestamp,
        out: &mut Vec<Command>,
    ) {
        let found = self.governor.pending.iter().find_map(|(&ask, pending)| {
            let Pending::Child {
                child: id,
                class,
                started,
            } = pending
            else {
                return None;
            };
            (id == child).then(|| (ask, *class, is_part_of_input(&started.origin)))
        });
        let Some((ask, class, is_part)) = found else {
            return;
        };
        self.governor.pending.remove(ask);
        self.governor.ledger.close_grant(child, result.budget.spent);
        self.governor.sources.extend(result.sources.iter().cloned());
        self.depth_reached = self.depth_reached.max(result.depth_reached);
        // A verifier that was under way before the effect was attempted has not looked at it.
        if class == Class::Verification
            && result.status == Status::Ok
            && self.governor.unverified.as_ref() <= Some(child)
        {
            self.governor.unverified = None;
        }
        // Parts of one input may well have the same answer, and each failure is told to the code that asked for it.
        if !is_part && self.is_stopped_by(result, out) {
            return;
        }
        self.tell(Input::Child { ask, child, result }, at, out);
        self.governor.pump(out);
    }

    /// Counts what a child brought: too many in a row with nothing new, or failed, stop the episode.
    fn is_stopped_by(&mut self, result: &EpisodeResult, out: &mut Vec<Command>) -> bool {
        let answer = result.answer.as_ref().filter(|answer| !answer.is_blank());
        let is_new =
            answer.is_some_and(|answer| self.answers_seen.insert(fnv1a(answer.as_str().trim())));
        self.children_without_delta = if is_new {
            0
        } else {
            self.children_without_delta + 1
        };
        let stops = self.governor.started.contract.recursion.stop_conditions;
        if result.status == Status::Failed {
            if self.count_failure(ErrorClass::Child, out) {
                return true;
            }
        } else {
            self.failures = None;
        }
        let stop = self.children_without_delta >= stops.no_delta_children_max.max(1)
            && matches!(self.phase, Phase::Running);
        if stop {
            self.stop(StopReason::NoNewInformation, out);
        }
        stop
    }

    fn on_signal(&mut self, signal: &Signal, at: Timestamp, out: &mut Vec<Command>) {
        match signal {
            Signal::Cancel => self.stop(StopReason::Cancelled, out),
            Signal::Kill { scope } => {
                if !self.governor.killed.contains(scope) {
                    self.governor.killed.push(scope.clone());
                }
                if *scope == KillScope::Global {
                    let scope = scope.clone();
                    self.stop(StopReason::KillSwitch { scope }, out);
                }
            }
            Signal::Lift { scope } => self.governor.killed.retain(|killed| killed != scope),
            Signal::Decide {
                episode,
                ask,
                allow,
                by,
                binding,
            } => {
                if *episode == self.governor.id {
                    let word = PersonsWord {
                        allow: *allow,
                        by,
                        binding,
                    };
                    self.on_person_decided(*ask, &word, at, out);
                }
            }
        }
        self.tell(Input::Signal(signal), at, out);
    }

    fn on_refused(&mut self, id: AskId, reason: &Refusal, at: Timestamp, out: &mut Vec<Command>) {
        // The host may refuse what it was asked first: counting tokens and looking at an effect.
        let is_open = matches!(
            self.governor.pending.get(&id),
            Some(
                Pending::Refusing(_)
                    | Pending::Host(_)
                    | Pending::Packing(_)
                    | Pending::Effect {
                        state: EffectState::Preflight,
                        ..
                    }
            )
        );
        if !is_open {
            return;
        }
        if self.governor.is_shortening(id) {
            return self.governor.on_shortened(id, None, out);
        }
        self.governor.withdraw(id);
        if let Some(outer) = self.governor.scales.errands.remove(&id) {
            return self.governor.on_shortened(outer, None, out);
        }
        let asked = self.governor.next_ask;
        self.tell(Input::Refused { ask: id, reason }, at, out);
        // Refusals come back at once, so a program that asks on and on would never let go.
        self.refusals += u32::from(self.governor.next_ask != asked);
        let count = self.refusals;
        if count >= cap::REFUSALS_MAX {
            let class = ErrorClass::Refused;
            self.stop(StopReason::RepeatedFailure { class, count }, out);
        }
    }

    /// A report stands in the journal.
    fn on_reported(&mut self, kind: &EventKind) {
        self.governor.reported(|report| {
            matches!(
                (kind, report),
                (EventKind::Overrun { .. }, Command::ReportOverrun { .. })
                    | (EventKind::Forfeited { .. }, Command::ReportForfeit { .. })
                    | (
                        EventKind::TokenBudgetOverrun { .. },
                        Command::ReportShortening { .. }
                    )
            )
        });
    }

    /// Counts a failure and stops the episode when the same one came too often.
    fn count_failure(&mut self, class: ErrorClass, out: &mut Vec<Command>) -> bool {
        let count = match self.failures {
            Some((last, count)) if last == class => count + 1,
            _ => 1,
        };
        self.failures = Some((class, count));
        let stops = self.governor.started.contract.recursion.stop_conditions;
        let stop = count >= stops.same_error_max.max(1) && matches!(self.phase, Phase::Running);
        if stop {
            self.stop(StopReason::RepeatedFailure { class, count }, out);
        }
        stop
    }
}

/// Whether an episode works on a part of an input that is too large for one.
fn is_part_of_input(origin: &Origin) -> bool {
    matches!(
        origin,
        Origin::Spawned {
            trigger: Trigger::OversizedInput,
            ..
        }
    )
}

/// What a call used: what was reported or counted, and its whole reservation when nobody can say.
pub fn billed(outcome: &CallOutcome, measured: &Measured, reserved: Amounts) -> Amounts {
    let usage = match outcome {
        CallOutcome::Replied(Reply { usage, .. })
        | CallOutcome::Failed(ModelFailure {
            billing: Billing::Reported(usage),
            ..
        }) => usage,
        CallOutcome::Failed(ModelFailure {
            billing: Billing::Perhaps,
            ..
        }) => return reserved,
        CallOutcome::Failed(ModelFailure {
            billing: Billing::Nothing,
            ..
        }) => return Amounts::ZERO,
    };
    Amounts {
        tokens: usage.input_tokens.saturating_add(usage.output_tokens),
        calls: 1,
        money: measured.price.of(usage.input_tokens, usage.output_tokens),
        ..Amounts::ZERO
    }
}
