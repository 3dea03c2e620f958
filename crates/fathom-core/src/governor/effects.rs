//! Effects: who may ask for one, on what terms a person decides, the kill switch, and how an attempt ends.

use super::{AdmitOutcome, Governor};
use crate::budget::amounts::Amounts;
use crate::budget::ledger::BudgetAccounts;
use crate::contract::stop::Refusal;
use crate::contract::{Autonomy, PermissionMode};
use crate::effect::{
    ApprovalTerms, EffectClass, EffectOutcome, EffectRequest, EffectState, EffectTransition,
    KillScope,
};
use crate::episode::result::{HandoffTicket, NextAction, TaskPacket};
use crate::governor::pending::PendingAsk;
use crate::id::{AskId, Digest};
use crate::journal::command::{Command, ExternalWait};
use crate::text::Text;
use crate::unit::Timestamp;

impl<L: BudgetAccounts> Governor<L> {
    pub(super) fn admit_effect(
        &mut self,
        id: AskId,
        request: EffectRequest,
        out: &mut Vec<Command>,
    ) -> AdmitOutcome {
        let contract = &self.started.contract;
        let is_read = request.class == EffectClass::Read;
        let may_act = contract.permission_mode == PermissionMode::Act
            && contract.autonomy != Autonomy::Suggest;
        if !is_read && !may_act {
            self.escalated.push(NextAction::Task(TaskPacket {
                role: self.started.role,
                child_type: "effect".into(),
                goal: Text::new(format!(
                    "{request} with `{}`: {}",
                    request.tool,
                    request.arguments.as_str()
                )),
                why: Text::new(format!("{} may only suggest it", self.id)),
            }));
            return AdmitOutcome::Refused(Refusal::ReadOnly);
        }
        if !contract.allowed_tools.contains(&request.tool) {
            return AdmitOutcome::Refused(Refusal::ToolNotAllowed { tool: request.tool });
        }
        if let Some(scope) = self.kill_covering(&request) {
            return AdmitOutcome::Refused(Refusal::Killed { scope });
        }
        let need = Amounts {
            tools: 1,
            ..Amounts::ZERO
        };
        if let Some(dimension) = self.closing() {
            // Held, not refused: a settlement may free budget below the mark.
            return if self.in_flight() {
                AdmitOutcome::Held
            } else {
                AdmitOutcome::Refused(Refusal::Closing { dimension })
            };
        }
        match self.ledger.reserve(id, need) {
            Ok(()) => {}
            Err(_) if self.in_flight() => return AdmitOutcome::Held,
            Err(dimension) => return AdmitOutcome::Refused(Refusal::Budget { dimension }),
        }
        self.step_effect(id, EffectTransition::Admit);
        out.push(Command::Propose {
            ask: id,
            effect: request,
        });
        AdmitOutcome::Admitted
    }

    /// Notes a kill switch. Nothing that it covers is admitted or sent until it is lifted.
    pub(crate) fn kill(&mut self, scope: &KillScope) {
        if !self.killed.contains(scope) {
            self.killed.push(scope.clone());
        }
    }

    pub(crate) fn lift(&mut self, scope: &KillScope) {
        self.killed.retain(|killed| killed != scope);
    }

    pub(crate) fn kills(&self) -> &[KillScope] {
        &self.killed
    }

    /// The kill switch that covers an effect under way, if any.
    pub(crate) fn kill_on(&self, id: AskId) -> Option<KillScope> {
        self.kill_covering(self.effect(id)?.0)
    }

    fn kill_covering(&self, request: &EffectRequest) -> Option<KillScope> {
        self.killed
            .iter()
            .find(|scope| scope.covers(&request.target))
            .cloned()
    }

    /// True if an effect was attempted and nobody has verified it since.
    pub(crate) const fn needs_verification(&self) -> bool {
        self.unverified.is_some()
    }

    fn effect(&self, id: AskId) -> Option<(&EffectRequest, EffectState)> {
        match self.pending.get(id) {
            Some(PendingAsk::Effect { request, state, .. }) => Some((request, *state)),
            _ => None,
        }
    }

    /// Moves an effect on; a step its state does not allow leaves it where it is.
    pub(super) fn step_effect(&mut self, id: AskId, step: EffectTransition) -> Option<EffectState> {
        self.pending.change(id, |pending| match pending {
            PendingAsk::Effect { state, .. } => {
                *state = state.after(step).ok()?;
                Some(*state)
            }
            _ => None,
        })?
    }

    /// True if the gateway has been asked about an effect and has not decided.
    pub(crate) fn awaits_gateway(&self, id: AskId) -> bool {
        matches!(self.effect(id), Some((_, EffectState::Preflight)))
    }

    /// Puts an effect before a person, on the gateway's terms.
    pub(crate) fn ask_person(&mut self, id: AskId, by: &ApprovalTerms, out: &mut Vec<Command>) {
        if self.step_effect(id, EffectTransition::Defer).is_none() {
            return;
        }
        self.pending.change(id, |pending| {
            if let PendingAsk::Effect { terms, .. } = pending {
                *terms = Some(Box::new(by.clone()));
            }
        });
        // Only the first moment is kept, so that no event has to look through all that is pending.
        let sooner = self.expiry.is_none_or(|expiry| by.expires < expiry);
        if sooner {
            self.expiry = Some(by.expires);
        }
        out.push(Command::Await {
            awaited: ExternalWait::Approval { ask: id },
        });
    }

    /// True if a person may still decide about exactly this.
    pub(crate) fn awaits_person(&self, id: AskId, binding: &Digest, at: Timestamp) -> bool {
        match self.pending.get(id) {
            Some(PendingAsk::Effect {
                state: EffectState::AwaitingApproval,
                terms: Some(terms),
                ..
            }) => terms.binding == *binding && at < terms.expires,
            _ => false,
        }
    }

    /// The effects that nobody decided about in time.
    pub(crate) fn take_expired(&mut self, at: Timestamp) -> Vec<AskId> {
        let mut expired = Vec::new();
        // Most events come while nothing can have expired, and this is looked at after each of them.
        if self.released || self.expiry.is_none_or(|expiry| at < expiry) {
            return expired;
        }
        // Found anew from those that still wait.
        self.expiry = None;
        for (&id, pending) in self.pending.iter() {
            if let PendingAsk::Effect {
                state: EffectState::AwaitingApproval,
                terms: Some(terms),
                ..
            } = pending
            {
                if terms.expires <= at {
                    expired.push(id);
                } else {
                    let expiry = self.expiry.get_or_insert(terms.expires);
                    *expiry = terms.expires.min(*expiry);
                }
            }
        }
        expired
    }

    /// Has an allowed effect attempted.
    pub(crate) fn attempt_effect(&mut self, id: AskId, out: &mut Vec<Command>) {
        let Some(request) = self.effect(id).map(|(request, _)| request.clone()) else {
            return;
        };
        if self.step_effect(id, EffectTransition::Allow).is_some()
            && self.step_effect(id, EffectTransition::Attempt).is_some()
        {
            if request.class == EffectClass::Effect {
                // The next child to be spawned is the first that can look at it.
                self.unverified = Some(self.id.child(self.children));
            }
            out.push(Command::Attempt {
                ask: id,
                effect: request,
            });
        }
    }

    /// Withdraws an effect that was not allowed. False if it is too late for that.
    pub(crate) fn deny_effect(&mut self, id: AskId) -> bool {
        let denied = self.step_effect(id, EffectTransition::Deny).is_some();
        if denied {
            self.withdraw(id);
        }
        denied
    }

    /// Closes an attempt at an effect. None if it was not under way, or if the platform is to be asked first.
    pub(crate) fn settle_effect(
        &mut self,
        id: AskId,
        outcome: &EffectOutcome,
        out: &mut Vec<Command>,
    ) -> Option<SettledEffect> {
        let (request, state) = self.effect(id)?;
        let request = request.clone();
        let was_checked = state == EffectState::Postcheck;
        let step = match outcome {
            EffectOutcome::Confirmed { .. } => EffectTransition::Confirm,
            EffectOutcome::Failed { .. } => EffectTransition::Fail,
            EffectOutcome::Unknown { .. } => EffectTransition::Lose,
        };
        self.step_effect(id, step)?;
        // Also after a failure, whose detail is the platform's text as well.
        self.saw_tool(&request.tool);
        if step == EffectTransition::Lose && !was_checked && request.class == EffectClass::Effect {
            // Nobody knows whether it happened: the platform is asked.
            if self.step_effect(id, EffectTransition::Check).is_some() {
                out.push(Command::Reconcile {
                    ask: id,
                    effect: request,
                });
            }
            return None;
        }
        self.pending.remove(id);
        let spent = Amounts {
            tools: 1,
            ..Amounts::ZERO
        };
        self.ledger.settle(id, spent);
        if let (EffectOutcome::Unknown { detail }, EffectClass::Effect) = (outcome, request.class) {
            // Not even the platform could say: from here on it is a person's.
            self.escalated.push(NextAction::Handoff(HandoffTicket {
                tried: Text::new(request.to_string()),
                known: detail.clone(),
                asked: Text::from("find out whether it happened; it was not sent again"),
                deadline: None,
            }));
        }
        let end = match step {
            EffectTransition::Confirm => EffectEnd::Confirmed,
            EffectTransition::Fail if was_checked => EffectEnd::NotFound,
            _ => EffectEnd::Failed,
        };
        Some(SettledEffect {
            end,
            killed: self.kill_covering(&request),
        })
    }
}

/// An effect that is over.
pub(crate) struct SettledEffect {
    pub(crate) end: EffectEnd,
    /// The kill switch that covers it, if any.
    pub(crate) killed: Option<KillScope>,
}

/// The verdict on an attempt at an effect, for the count of failures.
pub(crate) enum EffectEnd {
    Confirmed,
    /// The platform was asked and has nothing of it.
    NotFound,
    Failed,
}
