//! How an episode's effects move from being allowed to being settled.

use super::{Episode, Phase};
use crate::amounts::Amounts;
use crate::command::{Awaited, Command};
use crate::effect::{EffectOutcome, EffectRequest, EffectState, EffectStep, PolicyDecision};
use crate::id::AskId;
use crate::ledger::Accounts;
use crate::outcome::{HandoffTicket, NextAction};
use crate::pending::Pending;
use crate::program::Input;
use crate::stop::{ErrorClass, StopReason};
use crate::text::Text;
use crate::unit::Timestamp;

impl<L: Accounts> Episode<L> {
    pub(super) fn on_decided(
        &mut self,
        id: AskId,
        decision: &PolicyDecision,
        at: Timestamp,
        out: &mut Vec<Command>,
    ) {
        if !matches!(self.phase, Phase::Running)
            || self.effect_state(id) != Some(EffectState::Preflight)
        {
            return;
        }
        match decision {
            PolicyDecision::Allow { .. } => self.allow_effect(id, out),
            PolicyDecision::Deny { rule } => {
                self.deny_effect(id, rule, at, out);
            }
            PolicyDecision::NeedsApproval { .. } => {
                if self.governor.step_effect(id, EffectStep::Defer).is_some() {
                    out.push(Command::Await {
                        awaited: Awaited::Approval { ask: id },
                    });
                }
            }
        }
    }

    /// A person's word on an effect that waits for one. On any other it changes nothing: a person cannot send
    /// what the gateway has not seen.
    pub(super) fn on_person_decided(
        &mut self,
        id: AskId,
        allow: bool,
        by: &str,
        at: Timestamp,
        out: &mut Vec<Command>,
    ) {
        if !matches!(self.phase, Phase::Running)
            || self.effect_state(id) != Some(EffectState::AwaitingApproval)
        {
            return;
        }
        if allow {
            self.allow_effect(id, out);
        } else {
            self.deny_effect(id, &format!("{by} said no"), at, out);
        }
    }

    /// Allowed: the intent is written down, and once that is durable the host sends it. The kill switch is
    /// looked at once more, right before.
    fn allow_effect(&mut self, id: AskId, out: &mut Vec<Command>) {
        let Some(request) = self.effect_request(id) else {
            return;
        };
        if self.governor.is_out_of_time() {
            return;
        }
        if let Some(scope) = self.governor.kill_on(&request) {
            self.stop(StopReason::KillSwitch { scope }, out);
            return;
        }
        if self.governor.step_effect(id, EffectStep::Allow).is_some()
            && self.governor.step_effect(id, EffectStep::Attempt).is_some()
        {
            let governor = &mut self.governor;
            governor.unverified = Some(governor.id.child(governor.children));
            out.push(Command::Attempt {
                ask: id,
                effect: request,
            });
        }
    }

    fn deny_effect(&mut self, id: AskId, rule: &str, at: Timestamp, out: &mut Vec<Command>) {
        if self.governor.step_effect(id, EffectStep::Deny).is_none() {
            return;
        }
        self.governor.withdraw(id);
        let outcome = EffectOutcome::Failed {
            detail: Text::new(format!("denied: {rule}")),
        };
        let outcome = &outcome;
        self.tell(Input::Effect { ask: id, outcome }, at, out);
        self.governor.pump(out);
    }

    fn effect_state(&self, id: AskId) -> Option<EffectState> {
        match self.governor.pending.get(&id) {
            Some(Pending::Effect { state, .. }) => Some(*state),
            _ => None,
        }
    }

    fn effect_request(&self, id: AskId) -> Option<EffectRequest> {
        match self.governor.pending.get(&id) {
            Some(Pending::Effect { request, .. }) => Some(request.clone()),
            _ => None,
        }
    }

    pub(super) fn on_settled(
        &mut self,
        id: AskId,
        outcome: &EffectOutcome,
        at: Timestamp,
        out: &mut Vec<Command>,
    ) {
        let Some(request) = self.effect_request(id) else {
            return;
        };
        let was_checked = self.effect_state(id) == Some(EffectState::Postcheck);
        let step = match outcome {
            EffectOutcome::Confirmed { .. } => EffectStep::Confirm,
            EffectOutcome::Failed { .. } => EffectStep::Fail,
            EffectOutcome::Unknown { .. } => EffectStep::Lose,
        };
        if self.governor.step_effect(id, step).is_none() {
            return;
        }
        if step == EffectStep::Lose && !was_checked {
            self.reconcile(id, request, out);
            return;
        }
        self.governor.pending.remove(&id);
        let spent = Amounts {
            tools: 1,
            ..Amounts::ZERO
        };
        self.governor.ledger.settle(id, spent);
        if let EffectOutcome::Unknown { detail } = outcome {
            // Not even the platform could say: from here on it is a person's.
            self.governor
                .escalated
                .push(NextAction::Handoff(HandoffTicket {
                    tried: Text::new(request.to_string()),
                    known: detail.clone(),
                    asked: Text::from("find out whether it happened; it was not sent again"),
                    deadline: None,
                }));
        }
        if step == EffectStep::Confirm {
            self.failures = None;
        } else if self.count_failure(ErrorClass::Effect, out) {
            return;
        }
        // The last look at the kill switch: what happened is recorded, but nothing follows from it.
        if let Some(scope) = self.governor.kill_on(&request) {
            self.stop(StopReason::KillSwitch { scope }, out);
            return;
        }
        self.tell(Input::Effect { ask: id, outcome }, at, out);
        self.governor.pump(out);
    }

    /// Nobody knows whether it happened: the platform is asked.
    pub(super) fn reconcile(&mut self, id: AskId, effect: EffectRequest, out: &mut Vec<Command>) {
        if self.governor.step_effect(id, EffectStep::Check).is_some() {
            out.push(Command::Reconcile { ask: id, effect });
        }
    }
}
