//! The host's part for effects: asking the gateway, sending, asking what happened, and giving keys free.

use fathom_core::budget::ledger::BudgetAccounts;
use fathom_core::effect::{EffectOutcome, EffectRequest};
use fathom_core::id::{AskId, EpisodeId};
use fathom_core::journal::event::EventKind;
use fathom_core::text::Text;

use super::agenda::AgendaItem;
use super::bug::PlantedBug;
use super::platform::{SentEffect, SimSender};
use super::violation::InvariantViolation;
use super::world::SimWorld;

impl<L: BudgetAccounts> SimWorld<L> {
    pub(super) fn decide(
        &mut self,
        episode: EpisodeId,
        ask: AskId,
        effect: &EffectRequest,
    ) -> Result<(), InvariantViolation> {
        let sender = (episode.clone(), ask);
        let at = self.clock.now();
        let decision = self.platform.decide(&sender, effect, at);
        self.compute(episode, ask, "decide", EventKind::decided(ask, decision))
    }

    pub(super) fn attempt(
        &mut self,
        sender: SimSender,
        effect: EffectRequest,
    ) -> Result<(), InvariantViolation> {
        self.oracle.may_attempt(&sender)?;
        self.expect_answer(&sender, "attempt")?;
        let at = self.now + self.provider.latency();
        self.agenda.plan(at, AgendaItem::Arrive { sender, effect });
        Ok(())
    }

    pub(super) fn reconcile(
        &mut self,
        sender: SimSender,
        effect: EffectRequest,
    ) -> Result<(), InvariantViolation> {
        self.expect_answer(&sender, "reconcile")?;
        self.platform.hold(&sender, &effect);
        let outcome = self.platform.reconcile(&sender, &effect);
        let at = self.now + self.provider.latency();
        let item = AgendaItem::Checked {
            sender,
            effect,
            outcome,
        };
        self.agenda.plan(at, item);
        Ok(())
    }

    /// An effect reaches the gateway's last look, and the platform behind it.
    pub(super) fn arrive(&mut self, sender: SimSender, effect: EffectRequest) {
        let killed = self.kills.iter().find(|kill| kill.covers(&effect.target));
        // The last look at the kill switch, right before the call.
        let outcome = if let Some(scope) = killed {
            EffectOutcome::Failed {
                detail: Text::new(format!("kill switch: {scope}")),
            }
        } else {
            self.send_effect(&sender, &effect)
        };
        let at = self.now + self.provider.latency();
        let item = AgendaItem::Settle {
            sender,
            effect,
            outcome,
        };
        self.agenda.plan(at, item);
    }

    fn send_effect(&mut self, sender: &SimSender, effect: &EffectRequest) -> EffectOutcome {
        let (SentEffect::Answered(outcome) | SentEffect::Stopped(outcome)) =
            self.platform.attempt(sender, effect);
        let is_unknown = matches!(outcome, EffectOutcome::Unknown { .. });
        match self.bug {
            Some(PlantedBug::TimeoutTakenForFailure) if is_unknown => EffectOutcome::Failed {
                detail: "timed out".into(),
            },
            Some(PlantedBug::TimeoutTakenForSuccess) if is_unknown => EffectOutcome::Confirmed {
                receipt: "timed out".into(),
            },
            _ => outcome,
        }
    }

    /// An effect is settled. The key of one that certainly did not happen is given free before that is written
    /// down: a crash in between is made good by asking the platform once more.
    pub(super) fn settle(
        &mut self,
        sender: SimSender,
        effect: &EffectRequest,
        outcome: EffectOutcome,
    ) -> Result<(), InvariantViolation> {
        let is_free = match &outcome {
            EffectOutcome::Failed { .. } => self.bug != Some(PlantedBug::ClaimKept),
            EffectOutcome::Unknown { .. } => self.bug == Some(PlantedBug::ClaimFreedOnUnknown),
            EffectOutcome::Confirmed { .. } => false,
        };
        if is_free {
            self.platform.release(&sender, effect);
            if self.boundary.crosses() {
                return Ok(());
            }
        }
        let (episode, ask) = sender;
        self.deliver(episode, EventKind::settled(ask, outcome))
    }
}
