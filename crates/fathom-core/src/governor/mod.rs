//! The governor around a program: it admits an ask, holds it in order until a settlement frees budget, or
//! refuses it. Nothing reaches the host but through here.

mod calls;
mod effects;
mod errand;
mod lending;
mod outstanding;
mod packed;
mod packing;
mod parcel;
mod scales;
mod taint;

pub(crate) use parcel::Packing;
pub(crate) use scales::Scales;

use std::collections::BTreeSet;

use crate::admission::{Parent, check_spawn};
use crate::amounts::{Amounts, Budget};
use crate::command::Command;
use crate::domain::DomainRequest;
use crate::effect::{EffectState, KillScope};
use crate::event::{Origin, Signal, Started};
use crate::id::{AskId, EpisodeId};
use crate::ledger::{Accounts, closing, share};
use crate::model::{Measured, ModelRole, Reply};
use crate::outcome::NextAction;
use crate::pending::{PackedCall, Pending, Try, Unsettled};
use crate::program::Ask;
use crate::recursion::SpawnRequest;
use crate::stop::Refusal;
use crate::stopwatch::Stopwatch;
use crate::unit::Timestamp;

/// What became of the ask at the head of the queue.
enum Admission {
    Admitted,
    /// It waits for a settlement, and all asks behind it wait too.
    Held,
    Refused(Refusal),
}

pub(crate) struct Governor<L> {
    pub(crate) id: EpisodeId,
    pub(crate) started: Started,
    pub(crate) ledger: L,
    pub(crate) clock: Stopwatch,
    /// The moment that the program waits for.
    pub(crate) wake: Option<Timestamp>,
    pub(crate) next_ask: AskId,
    pub(crate) pending: Unsettled,
    /// Asks that wait for admission, served strictly in order.
    queue: BTreeSet<AskId>,
    pub(crate) children: u32,
    /// The first child that could verify the effect attempted last; none once one has.
    pub(crate) unverified: Option<EpisodeId>,
    pub(crate) killed: Vec<KillScope>,
    /// Effects that a read-only episode wanted: its parent reads them in the result.
    pub(crate) escalated: Vec<NextAction>,
    /// The one call that was let through past the closing mark.
    closing_call: Option<AskId>,
    /// An earlier answer that stands for a call, on its way to the program.
    pub(crate) recalled: Option<(AskId, Reply)>,
    /// What is known of the texts that packets are made of.
    pub(crate) scales: Scales,
    /// The first moment at which a person's yes comes too late.
    pub(crate) expiry: Option<Timestamp>,
    /// Untrusted content that the episode has seen.
    pub(crate) sources: BTreeSet<String>,
    /// Overruns and forfeits on their way into the journal. An episode is not over before they are there.
    pub(crate) unsaid: Vec<Command>,
}

impl<L: Accounts> Governor<L> {
    pub(crate) fn new(id: EpisodeId, started: &Started, at: Timestamp) -> Self {
        let policy = &started.contract.recursion;
        let episodes = Amounts {
            episodes: policy.max_total_episodes.into(),
            ..Amounts::MAX
        };
        Self {
            id,
            ledger: L::open(started.budget.amounts.min(episodes)),
            clock: Stopwatch::start(at, started.budget.time),
            wake: None,
            started: started.clone(),
            next_ask: AskId::default(),
            pending: Unsettled::new(),
            queue: BTreeSet::new(),
            children: 0,
            unverified: None,
            killed: Vec::new(),
            escalated: Vec::new(),
            closing_call: None,
            recalled: None,
            scales: Scales::default(),
            expiry: None,
            sources: started.sources.iter().cloned().collect(),
            unsaid: Vec::new(),
        }
    }

    /// Has something written down that is nobody's ask.
    pub(crate) fn report(&mut self, report: Command, out: &mut Vec<Command>) {
        self.unsaid.push(report.clone());
        out.push(report);
    }

    /// The journal has the oldest report of this kind.
    pub(crate) fn reported(&mut self, is_this_kind: impl Fn(&Command) -> bool) {
        if let Some(at) = self.unsaid.iter().position(is_this_kind) {
            self.unsaid.remove(at);
        }
    }

    /// Takes in asks that a program made together. `Finish` and `Cancel` are not for the governor.
    pub(crate) fn take(&mut self, asks: Vec<Ask>, out: &mut Vec<Command>) {
        let mut siblings = asks
            .iter()
            .filter(|ask| matches!(ask, Ask::Spawn(_)))
            .count() as u64;
        for ask in asks {
            let id = self.next_ask;
            self.next_ask = id.next();
            match ask {
                Ask::Model(ask) => self.pack(id, *ask, out),
                Ask::Spawn(request) => {
                    self.pending
                        .insert(id, Pending::HeldChild { request, siblings });
                    self.queue.insert(id);
                    siblings -= 1;
                }
                Ask::Effect(mut request) => {
                    self.mark(&mut request);
                    let effect = Pending::Effect {
                        request,
                        state: EffectState::Queued,
                        terms: None,
                    };
                    self.pending.insert(id, effect);
                    self.queue.insert(id);
                }
                Ask::Summarise { text, tokens_max } => self.pass_on(
                    id,
                    Command::Summarise {
                        ask: id,
                        model: self.started.model,
                        text,
                        tokens_max,
                        round: 0,
                    },
                    out,
                ),
                Ask::RunCell {
                    code,
                    context,
                    limits,
                } => self.pass_on(
                    id,
                    Command::RunCell {
                        ask: id,
                        code,
                        context,
                        limits,
                    },
                    out,
                ),
                Ask::Answer { cell, answer } => {
                    if let Some(Pending::Host(Command::RunCell { .. })) = self.pending.get(&cell) {
                        out.push(Command::AnswerCell { ask: cell, answer });
                    }
                }
                Ask::Domain(request) => match self.check_domain(&request) {
                    Ok(()) => {
                        let sources = self.sources.iter().cloned().collect();
                        let request = DomainRequest { sources, ..request };
                        self.pass_on(id, Command::Domain { ask: id, request }, out);
                    }
                    Err(reason) => self.refuse(id, reason, out),
                },
                Ask::Emit(block) => out.push(Command::Emit { block }),
                Ask::Cancel(call) => self.cancel(call, out),
                Ask::Post(draft) => {
                    let envelope = Box::new(draft.stamp(&self.id, id, self.clock.last()));
                    out.push(Command::Post { envelope });
                }
                Ask::Wake(at) => {
                    self.wait_for(at);
                    out.push(self.timer());
                }
                Ask::Finish(_) => {}
            }
        }
        self.pump(out);
    }

    fn pass_on(&mut self, id: AskId, command: Command, out: &mut Vec<Command>) {
        self.pending.insert(id, Pending::Host(command.clone()));
        out.push(command);
    }

    /// Serves the queue from its head until an ask must wait. When the time is up nothing is admitted any more;
    /// the episode stops with the same event.
    pub(crate) fn pump(&mut self, out: &mut Vec<Command>) {
        if self.is_out_of_time() {
            return;
        }
        while let Some(&id) = self.queue.first() {
            match self.admit(id, out) {
                Admission::Admitted => {
                    self.queue.remove(&id);
                }
                Admission::Held => break,
                Admission::Refused(reason) => self.refuse(id, reason, out),
            }
        }
    }

    pub(crate) fn refuse(&mut self, id: AskId, reason: Refusal, out: &mut Vec<Command>) {
        self.queue.remove(&id);
        self.pending.insert(id, Pending::Refusing(reason.clone()));
        out.push(Command::Refuse { ask: id, reason });
    }

    fn admit(&mut self, id: AskId, out: &mut Vec<Command>) -> Admission {
        match self.pending.get(&id) {
            Some(Pending::HeldCall {
                ask,
                measured,
                attempt,
                not_before,
            }) => {
                let (ask, measured, attempt, not_before) =
                    (ask.clone(), *measured, *attempt, *not_before);
                self.admit_call(id, ask, measured, attempt, not_before, out)
            }
            Some(Pending::HeldChild { request, siblings }) => {
                let (request, siblings) = (request.clone(), *siblings);
                self.admit_child(id, &request, siblings, out)
            }
            Some(Pending::Effect { request, state, .. }) if *state == EffectState::Queued => {
                let request = request.clone();
                self.admit_effect(id, request, out)
            }
            Some(Pending::Packing(_)) => Admission::Held,
            _ => Admission::Admitted,
        }
    }

    pub(crate) const fn is_out_of_time(&self) -> bool {
        self.clock.left().0 == 0
    }

    const fn in_flight(&self) -> bool {
        self.pending.any_in_flight()
    }

    fn admit_child(
        &mut self,
        id: AskId,
        request: &SpawnRequest,
        siblings: u64,
        out: &mut Vec<Command>,
    ) -> Admission {
        if let Some(scope) = self
            .killed
            .iter()
            .find(|scope| **scope == KillScope::Global)
        {
            return Admission::Refused(Refusal::Killed {
                scope: scope.clone(),
            });
        }
        let parent = Parent {
            contract: &self.started.contract,
            depth: self.started.depth,
            children: self.children,
            unverified_effect: self.unverified.is_some(),
        };
        let allowed = check_spawn(&parent, request).and_then(|()| self.check_lending(request));
        if let Err(reason) = allowed {
            return Admission::Refused(reason);
        }
        if let Some(dimension) = closing(&self.ledger) {
            return if self.in_flight() {
                Admission::Held
            } else {
                Admission::Refused(Refusal::Closing { dimension })
            };
        }
        let depth = self.started.depth + 1;
        let granted = share(
            self.ledger.left(),
            siblings,
            request.at_least,
            request.at_most,
            depth < request.contract.recursion.max_depth,
        );
        let child = self.id.child(self.children);
        let granted =
            granted.and_then(|amounts| self.ledger.grant(&child, amounts).map(|()| amounts));
        let amounts = match granted {
            Ok(amounts) => amounts,
            Err(_) if self.in_flight() => return Admission::Held,
            Err(dimension) => return Admission::Refused(Refusal::Budget { dimension }),
        };
        self.children += 1;
        let started = Box::new(Started {
            goal: request.goal.clone(),
            role: request.role,
            program: request.program.clone(),
            contract: request.contract.clone(),
            budget: Budget {
                amounts,
                time: request
                    .time_max
                    .map_or(self.clock.left(), |most| most.min(self.clock.left())),
            },
            depth,
            model: ModelRole::Sub,
            models: self.started.models.clone(),
            frame: self.started.frame.clone(),
            sources: self.sources.iter().cloned().collect(),
            origin: Origin::Spawned {
                child_type: request.child_type.clone(),
                class: request.class,
                trigger: request.trigger,
                why: request.why.clone(),
                fetch: request.fetch.clone(),
                return_format: request.return_format.clone(),
            },
        });
        out.push(Command::Spawn {
            ask: id,
            child: child.clone(),
            started: started.clone(),
        });
        self.pending.insert(
            id,
            Pending::Child {
                child,
                class: request.class,
                started,
            },
        );
        Admission::Admitted
    }

    /// A measured or failed call joins the queue again, at its own place.
    pub(crate) fn hold_call(
        &mut self,
        id: AskId,
        ask: PackedCall,
        measured: Measured,
        attempt: Try,
        not_before: Option<Timestamp>,
    ) {
        self.pending.insert(
            id,
            Pending::HeldCall {
                ask,
                measured,
                attempt,
                not_before,
            },
        );
        self.queue.insert(id);
    }

    /// Forgets an ask that never left the house; what was set aside for it is free again.
    pub(crate) fn withdraw(&mut self, id: AskId) {
        self.queue.remove(&id);
        self.pending.remove(id);
        self.ledger.settle(id, Amounts::ZERO);
    }

    /// Gives up a call or a child: on the wire it is aborted, before that it is forgotten.
    pub(crate) fn cancel(&mut self, id: AskId, out: &mut Vec<Command>) {
        match self.pending.get(&id) {
            Some(Pending::Calling {
                measured,
                attempt,
                reserved,
                ..
            }) => {
                let given_up = Pending::GivenUp {
                    measured: *measured,
                    attempt: *attempt,
                    reserved: *reserved,
                };
                out.push(Command::CancelCall {
                    ask: id,
                    attempt: attempt.number,
                });
                self.pending.insert(id, given_up);
            }
            Some(Pending::Packing(packing)) => {
                let errand = packing.errand();
                self.withdraw(id);
                if let Some(errand) = errand {
                    self.cancel(errand, out);
                }
            }
            Some(
                Pending::HeldCall { .. } | Pending::Stalled { .. } | Pending::HeldChild { .. },
            ) => {
                self.withdraw(id);
            }
            Some(Pending::Child { child, .. }) => out.push(Command::SignalChild {
                child: child.clone(),
                signal: Signal::Cancel,
            }),
            _ => {}
        }
    }

    /// Drops all that has not left the house.
    pub(crate) fn wind_down(&mut self) {
        self.queue.clear();
        let ledger = &mut self.ledger;
        self.pending.retain(|&id, pending| match pending {
            // A refusal that was spoken is still written down.
            Pending::Calling { .. }
            | Pending::GivenUp { .. }
            | Pending::Child { .. }
            | Pending::Refusing(_) => true,
            Pending::Effect { state, .. } => {
                let out = matches!(
                    state,
                    EffectState::Attempted | EffectState::Unknown | EffectState::Postcheck
                );
                if !out {
                    ledger.settle(id, Amounts::ZERO);
                }
                out
            }
            Pending::Packing(_)
            | Pending::HeldCall { .. }
            | Pending::Stalled { .. }
            | Pending::HeldChild { .. }
            | Pending::Host(_) => false,
        });
    }
}
