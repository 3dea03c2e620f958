//! The governor around a program: it admits an ask, holds it in order until a settlement frees budget, or
//! refuses it. Nothing reaches the host but through here.

mod calls;
mod children;
mod domain_access;
mod effects;
mod finish_packing;
mod host_asks;
mod packing;
mod packing_call;
pub(crate) mod pending;
mod reissue;
mod shorten_call;
mod spawn_rules;
mod taint;
mod timing;
mod token_weights;
mod waiting;

pub use calls::billed;
pub(crate) use calls::{AnsweredCall, SettledCall};
pub(crate) use effects::EffectEnd;
pub(crate) use packing_call::PackingCall;
pub(crate) use timing::Tick;

use std::collections::BTreeSet;

use crate::budget::active_time::Stopwatch;
use crate::budget::amounts::{Amounts, Dimension};
use crate::budget::ledger::{BudgetAccounts, closing};
use crate::contract::stop::Refusal;
use crate::domain::DomainRequest;
use crate::effect::{EffectState, KillScope};
use crate::episode::program::{Ask, ProgramView};
use crate::episode::result::{BudgetUse, NextAction};
use crate::governor::pending::{Attempt, PackedCall, PendingAsk, PendingAsks};
use crate::id::{AskId, EpisodeId};
use crate::journal::command::Command;
use crate::journal::event::{EpisodeSpec, EventKind, Signal};
use crate::model::{ModelReply, RequestEstimate};
use crate::unit::Timestamp;

/// Outcome of looking at the ask at the head of the queue.
enum AdmitOutcome {
    Admitted,
    /// It waits for a settlement, and all asks behind it wait too.
    Held,
    Refused(Refusal),
}

/// Everything that bounds one episode. Its fields are its own: an episode says what happened and asks what it may do.
pub(crate) struct Governor<L> {
    id: EpisodeId,
    started: EpisodeSpec,
    ledger: L,
    clock: Stopwatch,
    /// True while no owner holds the run.
    released: bool,
    /// True once the verdict stands.
    winding_down: bool,
    /// The moment that the program waits for.
    wake: Option<Timestamp>,
    next_ask: AskId,
    pending: PendingAsks,
    /// Asks that wait for admission, served strictly in order.
    queue: BTreeSet<AskId>,
    children: u32,
    /// The first child that could verify the effect attempted last; none once one has.
    unverified: Option<EpisodeId>,
    killed: Vec<KillScope>,
    /// Effects that a read-only episode wanted: its parent reads them in the result.
    escalated: Vec<NextAction>,
    /// The one call that was let through past the closing mark.
    closing_call: Option<AskId>,
    /// An earlier answer that stands for a call, on its way to the program.
    recalled: Option<(AskId, ModelReply)>,
    /// Weights and short forms of the texts that packets are made of.
    scales: token_weights::TokenWeights,
    /// The first moment at which a person's yes comes too late.
    expiry: Option<Timestamp>,
    /// Untrusted content that the episode has seen.
    sources: BTreeSet<String>,
    /// Overruns and forfeits on their way into the journal. An episode is not over before they are there.
    unsaid: Vec<Command>,
}

impl<L: BudgetAccounts> Governor<L> {
    pub(crate) fn new(id: EpisodeId, started: &EpisodeSpec, at: Timestamp) -> Self {
        // The policy bounds the tree even where the budget would allow more episodes.
        let policy = &started.contract.recursion;
        let episodes = Amounts {
            episodes: policy.max_total_episodes.into(),
            ..Amounts::MAX
        };
        Self {
            id,
            ledger: L::open(started.budget.amounts.min(episodes)),
            clock: Stopwatch::start(at, started.budget.time),
            released: false,
            winding_down: false,
            wake: None,
            started: started.clone(),
            next_ask: AskId::default(),
            pending: PendingAsks::new(),
            queue: BTreeSet::new(),
            children: 0,
            unverified: None,
            killed: Vec::new(),
            escalated: Vec::new(),
            closing_call: None,
            recalled: None,
            scales: token_weights::TokenWeights::default(),
            expiry: None,
            sources: started.sources.iter().cloned().collect(),
            unsaid: Vec::new(),
        }
    }

    pub(crate) fn id(&self) -> &EpisodeId {
        &self.id
    }

    pub(crate) fn started(&self) -> &EpisodeSpec {
        &self.started
    }

    pub(crate) fn accounts(&self) -> &L {
        &self.ledger
    }

    /// The number that the program's next ask gets.
    pub(crate) const fn next_ask(&self) -> AskId {
        self.next_ask
    }

    pub(crate) fn budget(&self) -> BudgetUse {
        BudgetUse {
            limit: self.ledger.limit(),
            spent: self.ledger.spent(),
            time_limit: self.clock.limit(),
            time_spent: self.clock.active(),
        }
    }

    /// The dimension, if any, that is past its closing mark.
    pub(crate) fn closing(&self) -> Option<Dimension> {
        closing(&self.ledger)
    }

    /// The program's view of the episode at `at`.
    pub(crate) fn view(&self, at: Timestamp) -> ProgramView<'_> {
        ProgramView {
            episode: &self.id,
            next_ask: self.next_ask,
            at,
            contract: &self.started.contract,
            depth: self.started.depth,
            model: self.started.model,
            left: self.ledger.left(),
            time_left: self.clock.left(),
            closing: self.closing(),
            pending: &self.pending,
        }
    }

    /// Adds a report to the journal that no ask waits for.
    fn report(&mut self, report: Command, out: &mut Vec<Command>) {
        // Kept until its event comes: a crash in between would lose it, and the episode would finish without it.
        self.unsaid.push(report.clone());
        out.push(report);
    }

    /// Ticks off the oldest report of the kind that now stands in the journal.
    pub(crate) fn on_reported(&mut self, kind: &EventKind) {
        let reported = self.unsaid.iter().position(|report| {
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
        if let Some(at) = reported {
            self.unsaid.remove(at);
        }
    }

    /// Untrusted content that the episode has seen.
    pub(crate) fn sources(&self) -> Vec<String> {
        self.sources.iter().cloned().collect()
    }

    /// Takes out the effects that a read-only episode leaves to its parent.
    pub(crate) fn take_escalated(&mut self) -> Vec<NextAction> {
        std::mem::take(&mut self.escalated)
    }

    /// Takes in asks that a program made together. `Finish` and `Cancel` are not for the governor.
    pub(crate) fn take(&mut self, asks: Vec<Ask>, out: &mut Vec<Command>) {
        let mut siblings = asks
            .iter()
            .filter(|ask| matches!(ask, Ask::Spawn(_)))
            .count() as u64;
        for ask in asks {
            let id = self.next_ask;
            // Every ask takes a number, even one that nobody answers: programs count on from the number that their view
            // names.
            self.next_ask = id.next();
            match ask {
                Ask::Model(ask) => self.pack(id, *ask, out),
                Ask::Spawn(request) => {
                    self.pending
                        .insert(id, PendingAsk::HeldChild { request, siblings });
                    self.queue.insert(id);
                    // Those that were admitted already have their share, so each divides what is left by those still
                    // waiting.
                    siblings -= 1;
                }
                Ask::Effect(mut request) => {
                    self.mark(&mut request);
                    let effect = PendingAsk::Effect {
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
                    // A cell that has ended meanwhile waits for no answer.
                    if let Some(PendingAsk::Host(Command::RunCell { .. })) = self.pending.get(cell)
                    {
                        out.push(Command::AnswerCell { ask: cell, answer });
                    }
                }
                Ask::Domain(request) => match self.check_domain(&request) {
                    Ok(()) => {
                        // Whatever the program put there: only the governor knows what the episode has seen.
                        let sources = self.sources();
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
        self.pending.insert(id, PendingAsk::Host(command.clone()));
        out.push(command);
    }

    /// Serves the queue from its head until an ask must wait. When the time is up nothing is admitted any more;
    /// the episode stops with the same event.
    pub(crate) fn pump(&mut self, out: &mut Vec<Command>) {
        if self.is_out_of_time() {
            return;
        }
        // Strictly first in, first out. Small asks that overtook a held one could starve it, and who is admitted would
        // depend on what settles first, while a refold must admit in the same order.
        while let Some(&id) = self.queue.first() {
            match self.admit(id, out) {
                AdmitOutcome::Admitted => {
                    self.queue.remove(&id);
                }
                AdmitOutcome::Held => break,
                AdmitOutcome::Refused(reason) => self.refuse(id, reason, out),
            }
        }
    }

    fn refuse(&mut self, id: AskId, reason: Refusal, out: &mut Vec<Command>) {
        self.queue.remove(&id);
        self.pending
            .insert(id, PendingAsk::Refusing(reason.clone()));
        out.push(Command::Refuse { ask: id, reason });
    }

    fn admit(&mut self, id: AskId, out: &mut Vec<Command>) -> AdmitOutcome {
        match self.pending.get(id) {
            Some(PendingAsk::HeldCall {
                ask,
                measured,
                attempt,
                not_before,
            }) => {
                let (ask, measured, attempt, not_before) =
                    (ask.clone(), *measured, *attempt, *not_before);
                self.admit_call(id, ask, measured, attempt, not_before, out)
            }
            Some(PendingAsk::HeldChild { request, siblings }) => {
                let (request, siblings) = (request.clone(), *siblings);
                self.admit_child(id, &request, siblings, out)
            }
            Some(PendingAsk::Effect { request, state, .. }) if *state == EffectState::Queued => {
                let request = request.clone();
                self.admit_effect(id, request, out)
            }
            Some(PendingAsk::Packing(_)) => AdmitOutcome::Held,
            // The ask was cancelled or settled meanwhile. Admitting it only takes it off the queue.
            _ => AdmitOutcome::Admitted,
        }
    }

    const fn in_flight(&self) -> bool {
        self.pending.any_in_flight()
    }

    /// A measured or failed call joins the queue again, at its own place.
    fn hold_call(
        &mut self,
        id: AskId,
        ask: PackedCall,
        measured: RequestEstimate,
        attempt: Attempt,
        not_before: Option<Timestamp>,
    ) {
        self.pending.insert(
            id,
            PendingAsk::HeldCall {
                ask,
                measured,
                attempt,
                not_before,
            },
        );
        self.queue.insert(id);
    }

    /// Forgets an ask that was never sent, and frees what was set aside for it.
    fn withdraw(&mut self, id: AskId) {
        self.queue.remove(&id);
        self.pending.remove(id);
        self.ledger.settle(id, Amounts::ZERO);
    }

    /// Gives up a call or a child: on the wire it is aborted, before that it is forgotten.
    fn cancel(&mut self, id: AskId, out: &mut Vec<Command>) {
        match self.pending.get(id) {
            Some(PendingAsk::Calling {
                measured,
                attempt,
                reserved,
                ..
            }) => {
                let given_up = PendingAsk::GivenUp {
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
            Some(PendingAsk::Packing(packing)) => {
                // Nobody else needs the shorter field, so the call that makes it is given up with the one it is for.
                let errand = packing.errand();
                self.withdraw(id);
                if let Some(errand) = errand {
                    self.cancel(errand, out);
                }
            }
            Some(
                PendingAsk::HeldCall { .. }
                | PendingAsk::Stalled { .. }
                | PendingAsk::HeldChild { .. },
            ) => {
                self.withdraw(id);
            }
            Some(PendingAsk::Child { child, .. }) => out.push(Command::SignalChild {
                child: child.clone(),
                signal: Signal::Cancel,
            }),
            _ => {}
        }
    }

    /// Gives up every call and child that is out.
    pub(crate) fn give_up_all(&mut self, out: &mut Vec<Command>) {
        let open: Vec<AskId> = self.pending.ids().collect();
        for id in open {
            self.cancel(id, out);
        }
    }

    /// Drops all that was not sent.
    pub(crate) fn wind_down(&mut self) {
        self.winding_down = true;
        self.queue.clear();
        let ledger = &mut self.ledger;
        self.pending.retain(|&id, pending| match pending {
            // A refusal that was spoken is still written down.
            PendingAsk::Calling { .. }
            | PendingAsk::GivenUp { .. }
            | PendingAsk::Child { .. }
            | PendingAsk::Refusing(_) => true,
            PendingAsk::Effect { state, .. } => {
                // From the attempt on it may have happened, so its end is waited for. Before that it never left.
                let out = matches!(
                    state,
                    EffectState::Attempted | EffectState::Unknown | EffectState::Postcheck
                );
                if !out {
                    ledger.settle(id, Amounts::ZERO);
                }
                out
            }
            PendingAsk::Packing(_)
            | PendingAsk::HeldCall { .. }
            | PendingAsk::Stalled { .. }
            | PendingAsk::HeldChild { .. }
            | PendingAsk::Host(_) => false,
        });
    }
}
