//! An episode's effects, from being allowed to being settled.

use super::{Episode, EpisodePhase};
use crate::budget::ledger::BudgetAccounts;
use crate::contract::stop::{ErrorClass, StopReason};
use crate::effect::{DENIED, EffectOutcome, PolicyDecision};
use crate::episode::program::ProgramInput;
use crate::governor::EffectEnd;
use crate::id::{AskId, Digest};
use crate::journal::command::Command;
use crate::text::Text;
use crate::unit::Timestamp;

/// A person's decision about an effect.
pub(super) struct PersonDecision<'a> {
    pub(super) allow: bool,
    pub(super) by: &'a str,
    /// The payload and terms that the person saw.
    pub(super) binding: &'a Digest,
}

impl<L: BudgetAccounts> Episode<L> {
    pub(super) fn on_decided(
        &mut self,
        id: AskId,
        decision: &PolicyDecision,
        at: Timestamp,
        out: &mut Vec<Command>,
    ) {
        if !matches!(self.phase, EpisodePhase::Running) || !self.governor.awaits_gateway(id) {
            return;
        }
        match decision {
            PolicyDecision::Allow { .. } => self.allow_effect(id, out),
            PolicyDecision::Deny { rule } => self.deny_effect(id, rule, at, out),
            PolicyDecision::NeedsApproval { terms, .. } => {
                self.governor.ask_person(id, terms, out);
            }
        }
    }

    /// A person's word on an effect that waits for one. On any other it changes nothing: a person cannot send
    /// what the gateway has not seen, and a word about something else is none.
    pub(super) fn on_person_decided(
        &mut self,
        id: AskId,
        word: &PersonDecision<'_>,
        at: Timestamp,
        out: &mut Vec<Command>,
    ) {
        // What comes too late is denied after this, for everyone alike.
        let is_asked = self.governor.awaits_person(id, word.binding, at);
        if !matches!(self.phase, EpisodePhase::Running) || !is_asked {
            return;
        }
        if word.allow {
            self.allow_effect(id, out);
        } else {
            self.deny_effect(id, &format!("{} said no", word.by), at, out);
        }
    }

    /// Denies effects that nobody approved in time.
    pub(super) fn expire_approvals(&mut self, at: Timestamp, out: &mut Vec<Command>) {
        for id in self.governor.take_expired(at) {
            self.deny_effect(id, "nobody said yes in time", at, out);
        }
    }

    /// Allowed: the intent is written down, and once that is durable the host sends it. The kill switch is
    /// looked at once more, right before.
    fn allow_effect(&mut self, id: AskId, out: &mut Vec<Command>) {
        if self.governor.is_out_of_time() {
            return;
        }
        if let Some(scope) = self.governor.kill_on(id) {
            self.stop(StopReason::KillSwitch { scope }, out);
            return;
        }
        self.governor.attempt_effect(id, out);
    }

    fn deny_effect(&mut self, id: AskId, rule: &str, at: Timestamp, out: &mut Vec<Command>) {
        if !self.governor.deny_effect(id) {
            return;
        }
        let outcome = EffectOutcome::Failed {
            detail: Text::new(format!("{DENIED}{rule}")),
        };
        let outcome = &outcome;
        self.tell(ProgramInput::Effect { ask: id, outcome }, at, out);
        self.governor.pump(out);
    }

    pub(super) fn on_settled(
        &mut self,
        id: AskId,
        outcome: &EffectOutcome,
        at: Timestamp,
        out: &mut Vec<Command>,
    ) {
        let Some(settled) = self.governor.settle_effect(id, outcome, out) else {
            return;
        };
        match settled.end {
            EffectEnd::Confirmed => self.failures = None,
            // What a check did not find was lost on its way, or its sender died: no tool failed at it.
            EffectEnd::NotFound => {}
            EffectEnd::Failed => {
                if self.count_failure(ErrorClass::Effect, out) {
                    return;
                }
            }
        }
        // The last look at the kill switch: what happened is recorded, but nothing follows from it.
        if let Some(scope) = settled.killed {
            self.stop(StopReason::KillSwitch { scope }, out);
            return;
        }
        self.tell(ProgramInput::Effect { ask: id, outcome }, at, out);
        self.governor.pump(out);
    }
}
