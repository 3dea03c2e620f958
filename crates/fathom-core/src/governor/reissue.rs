//! Commands that are issued again when a new owner takes the run over.

use super::Governor;
use crate::budget::amounts::Amounts;
use crate::budget::ledger::BudgetAccounts;
use crate::effect::{EffectClass, EffectState, EffectTransition};
use crate::governor::pending::PendingAsk;
use crate::id::AskId;
use crate::journal::command::{Command, ExternalWait};

impl<L: BudgetAccounts> Governor<L> {
    /// Takes an episode over for a new owner: what may have been spent unseen counts as spent, and what is outstanding
    /// is said again. Returns the program's calls that had been given up, for it waits for their end.
    pub(crate) fn resume(&mut self, out: &mut Vec<Command>) -> Vec<AskId> {
        self.clock.pause(false);
        // Their commands stand in the journal, but nothing shows that they were carried out.
        out.extend(self.unsaid.iter().cloned());
        // An owner that let go in good order left no call behind that the journal does not know of. After a crash,
        // calls within the lease may have gone out and been forgotten.
        if !self.released {
            let lost = self.ledger.forfeit();
            if lost != Amounts::ZERO {
                let report = Command::ReportForfeit { amounts: lost };
                self.report(report, out);
            }
        }
        self.released = false;
        let mut given_up = Vec::new();
        let open: Vec<AskId> = self.pending.ids().collect();
        for id in open {
            self.resume_ask(id, &mut given_up);
        }
        out.push(self.timer());
        self.outstanding(out);
        if self.winding_down {
            self.give_up_all(out);
        } else {
            self.pump(out);
        }
        given_up.retain(|&id| !self.drop_errand(id));
        given_up
    }

    fn resume_ask(&mut self, id: AskId, given_up: &mut Vec<AskId>) {
        match self.pending.get(id).cloned() {
            Some(PendingAsk::Calling {
                ask,
                measured,
                attempt,
                reserved,
            }) => {
                // The owner before may have sent it and heard nothing, so it is paid for in full.
                self.ledger.settle(id, reserved);
                if self.winding_down {
                    self.pending.remove(id);
                } else {
                    self.hold_call(id, ask, measured, attempt.afresh(), None);
                }
            }
            Some(PendingAsk::GivenUp { reserved, .. }) => {
                self.ledger.settle(id, reserved);
                self.pending.remove(id);
                given_up.push(id);
            }
            Some(PendingAsk::Stalled {
                ask,
                measured,
                attempt,
            }) => self.hold_call(id, ask, measured, attempt.afresh(), None),
            Some(PendingAsk::Effect {
                state: EffectState::Attempted,
                request,
                ..
            }) if request.class == EffectClass::Effect => {
                // It may have been sent: from here on it is outstanding as a question to the platform.
                self.step_effect(id, EffectTransition::Lose);
                self.step_effect(id, EffectTransition::Check);
            }
            _ => {}
        }
    }

    fn outstanding(&self, out: &mut Vec<Command>) {
        for (&id, pending) in self.pending.iter() {
            match pending {
                PendingAsk::Packing(packing) => out.extend(packing.outstanding(id)),
                PendingAsk::Child { child, started, .. } => out.push(Command::Spawn {
                    ask: id,
                    child: child.clone(),
                    started: started.clone(),
                }),
                PendingAsk::Effect { request, state, .. } => {
                    let effect = request.clone();
                    match state {
                        EffectState::Preflight => out.push(Command::Propose { ask: id, effect }),
                        EffectState::AwaitingApproval => out.push(Command::Await {
                            awaited: ExternalWait::Approval { ask: id },
                        }),
                        EffectState::Postcheck => out.push(Command::Reconcile { ask: id, effect }),
                        // A look may be taken again.
                        EffectState::Attempted => out.push(Command::Attempt { ask: id, effect }),
                        EffectState::Queued
                        | EffectState::Approved
                        | EffectState::Confirmed
                        | EffectState::Failed
                        | EffectState::Unknown => {}
                    }
                }
                PendingAsk::Host(command) => out.push(command.clone()),
                PendingAsk::Refusing(reason) => out.push(Command::Refuse {
                    ask: id,
                    reason: reason.clone(),
                }),
                // Calls are back in the queue by now or given up for good, and the queue admits what is held.
                PendingAsk::HeldCall { .. }
                | PendingAsk::Calling { .. }
                | PendingAsk::GivenUp { .. }
                | PendingAsk::Stalled { .. }
                | PendingAsk::HeldChild { .. } => {}
            }
        }
    }
}
