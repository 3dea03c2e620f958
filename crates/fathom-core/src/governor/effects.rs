//! Effects under the governor: who may ask for one, on what terms a person decides, and the kill switch.

use super::{Admission, Governor};
use crate::amounts::Amounts;
use crate::command::Command;
use crate::contract::{Autonomy, PermissionMode};
use crate::effect::{
    ApprovalTerms, EffectClass, EffectRequest, EffectState, EffectStep, KillScope,
};
use crate::id::AskId;
use crate::ledger::{Accounts, closing};
use crate::outcome::{NextAction, TaskPacket};
use crate::pending::Pending;
use crate::stop::Refusal;
use crate::text::Text;
use crate::unit::Timestamp;

impl<L: Accounts> Governor<L> {
    pub(super) fn admit_effect(
        &mut self,
        id: AskId,
        request: EffectRequest,
        out: &mut Vec<Command>,
    ) -> Admission {
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
            return Admission::Refused(Refusal::ReadOnly);
        }
        if !contract.allowed_tools.contains(&request.tool) {
            return Admission::Refused(Refusal::ToolNotAllowed { tool: request.tool });
        }
        if let Some(scope) = self.kill_on(&request) {
            return Admission::Refused(Refusal::Killed { scope });
        }
        let need = Amounts {
            tools: 1,
            ..Amounts::ZERO
        };
        if let Some(dimension) = closing(&self.ledger) {
            return if self.in_flight() {
                Admission::Held
            } else {
                Admission::Refused(Refusal::Closing { dimension })
            };
        }
        match self.ledger.reserve(id, need) {
            Ok(()) => {}
            Err(_) if self.in_flight() => return Admission::Held,
            Err(dimension) => return Admission::Refused(Refusal::Budget { dimension }),
        }
        self.step_effect(id, EffectStep::Admit);
        out.push(Command::Propose {
            ask: id,
            effect: request,
        });
        Admission::Admitted
    }

    /// The kill switch that covers an effect, if any.
    pub(crate) fn kill_on(&self, request: &EffectRequest) -> Option<KillScope> {
        self.killed
            .iter()
            .find(|scope| scope.covers(&request.target))
            .cloned()
    }

    /// Moves an effect on; a step its state does not allow leaves it where it is.
    pub(crate) fn step_effect(&mut self, id: AskId, step: EffectStep) -> Option<EffectState> {
        self.pending.change(id, |pending| match pending {
            Pending::Effect { state, .. } => {
                *state = state.after(step).ok()?;
                Some(*state)
            }
            _ => None,
        })?
    }

    /// A person is to decide about an effect.
    pub(crate) fn defer(&mut self, id: AskId, by: &ApprovalTerms) {
        let deferred = self.pending.change(id, |pending| match pending {
            Pending::Effect { terms, .. } => {
                *terms = Some(Box::new(by.clone()));
                true
            }
            _ => false,
        });
        if deferred == Some(true) {
            let sooner = self.expiry.is_none_or(|expiry| by.expires < expiry);
            if sooner {
                self.expiry = Some(by.expires);
            }
        }
    }

    /// The effects that nobody decided about in time.
    pub(crate) fn take_expired(&mut self, at: Timestamp) -> Vec<AskId> {
        let mut expired = Vec::new();
        self.expiry = None;
        for (&id, pending) in self.pending.iter() {
            if let Pending::Effect {
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
}
