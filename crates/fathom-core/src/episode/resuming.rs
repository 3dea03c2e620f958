//! How a new owner goes on with an episode that was refolded from its journal.

use super::{Episode, Phase};
use crate::amounts::Amounts;
use crate::command::Command;
use crate::effect::{EffectClass, EffectState, EffectStep};
use crate::failure::{FailureKind, ModelFailure};
use crate::id::AskId;
use crate::ledger::Accounts;
use crate::pending::Pending;
use crate::program::Input;
use crate::unit::Timestamp;

impl<L: Accounts> Episode<L> {
    /// A new owner: what may have been spent unseen counts as spent, what is outstanding is said again.
    pub(super) fn resume(&mut self, at: Timestamp, out: &mut Vec<Command>) {
        self.governor.clock.pause(false);
        out.extend(self.governor.unsaid.iter().cloned());
        if !self.released {
            let lost = self.governor.ledger.forfeit();
            if lost != Amounts::ZERO {
                let report = Command::ReportForfeit { amounts: lost };
                self.governor.report(report, out);
            }
        }
        self.released = false;
        let winding_down = !matches!(self.phase, Phase::Running);
        let mut given_up = Vec::new();
        let open: Vec<AskId> = self.governor.pending.keys().copied().collect();
        for id in open {
            match self.governor.pending.get(&id).cloned() {
                Some(Pending::Calling {
                    ask,
                    measured,
                    attempt,
                    reserved,
                }) => {
                    self.governor.ledger.settle(id, reserved);
                    if winding_down {
                        self.governor.pending.remove(id);
                    } else {
                        self.governor
                            .hold_call(id, ask, measured, attempt.afresh(), None);
                    }
                }
                Some(Pending::GivenUp { reserved, .. }) => {
                    self.governor.ledger.settle(id, reserved);
                    self.governor.pending.remove(id);
                    given_up.push(id);
                }
                Some(Pending::Stalled {
                    ask,
                    measured,
                    attempt,
                }) => {
                    self.governor
                        .hold_call(id, ask, measured, attempt.afresh(), None);
                }
                Some(Pending::Effect {
                    state: EffectState::Attempted,
                    request,
                    ..
                }) if request.class == EffectClass::Effect => {
                    // It may have been sent: from here on it is outstanding as a question to the platform.
                    self.governor.step_effect(id, EffectStep::Lose);
                    self.governor.step_effect(id, EffectStep::Check);
                }
                _ => {}
            }
        }
        out.push(self.governor.timer());
        self.governor.outstanding(out);
        if winding_down {
            self.give_up_all(out);
        } else {
            self.governor.pump(out);
        }
        // What was given up stays given up, and its program hears the end of it.
        for ask in given_up {
            if self.governor.scales.errands.remove(&ask).is_some() {
                continue;
            }
            let failure = &ModelFailure::sent(FailureKind::Cancelled, "given up before a restart");
            self.tell(Input::Failed { ask, failure }, at, out);
        }
    }
}
