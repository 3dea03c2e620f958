//! How an episode's effects move from being allowed to being settled.

use super::{Episode, Phase};
use crate::amounts::Amounts;
use crate::command::{Awaited, Command};
use crate::effect::{
    DENIED, EffectClass, EffectOutcome, EffectRequest, EffectState, EffectStep, PolicyDecision,
};
use crate::id::{AskId, Digest};
use crate::ledger::Accounts;
use crate::outcome::{HandoffTicket, NextAction};
use crate::pending::Pending;
use crate::program::Input;
use crate::stop::{ErrorClass, StopReason};
use crate::text::Text;
use crate::unit::Timestamp;

/// What a person said about an effect.
pub(super) struct PersonsWord<'a> {
    pub(super) allow: bool,
    pub(super) by: &'a str,
    /// What it was said about.
    pub(super) binding: &'a Digest,
}

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
            PolicyDecision::NeedsApproval { terms, .. } => {
                if self.governor.step_effect(id, EffectStep::Defer).is_some() {
                    self.governor.defer(id, terms);
                    out.push(Command::Await {
                        awaited: Awaited::Approval { ask: id },
                    });
                }
            }
        }
    }

    /// A person's word on an effect that waits for one. On any other it changes nothing: a person cannot send
    /// what the gateway has not seen, and a word about something else is none.
    pub(super) fn on_person_decided(
        &mut self,
        id: AskId,
        word: &PersonsWord<'_>,
        at: Timestamp,
        out: &mut Vec<Command>,
    ) {
        // What comes too late is denied after this, for everyone alike.
        let is_asked = match self.governor.pending.get(&id) {
            Some(Pending::Effect {
                state: EffectState::AwaitingApproval,
                terms: Some(terms),
                ..
            }) => terms.binding == *word.binding && at < terms.expires,
            _ => false,
        };
        if !matches!(self.phase, Phase::Running) || !is_asked {
            return;
        }
        if word.allow {
            self.allow_effect(id, out);
        } else {
            self.deny_effect(id, &format!("{} said no", word.by), at, out);
        }
    }

    /// What nobody said yes to in time is denied.
    pub(super) fn expire_approvals(&mut self, at: Timestamp, out: &mut Vec<Command>) {
        if self.released || self.governor.expiry.is_none_or(|expiry| at < expiry) {
            return;
        }
        for id in self.governor.take_expired(at) {
            self.deny_effect(id, "nobody said yes in time", at, out);
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
            if request.class == EffectClass::Effect {
                governor.unverified = Some(governor.id.child(governor.children));
            }
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
            detail: Text::new(format!("{DENIED}{rule}")),
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
        self.governor.saw_tool(&request.tool);
        if step == EffectStep::Lose && !was_checked && request.class == EffectClass::Effect {
            self.reconcile(id, request, out);
            return;
        }
        self.governor.pending.remove(id);
        let spent = Amounts {
            tools: 1,
            ..Amounts::ZERO
        };
        self.governor.ledger.settle(id, spent);
        if let (EffectOutcome::Unknown { detail }, EffectClass::Effect) = (outcome, request.class) {
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
        } else if !(was_checked && step == EffectStep::Fail)
            && self.count_failure(ErrorClass::Effect, out)
        {
            // What a check did not find was lost on its way, or its sender died: no tool failed at it.
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
