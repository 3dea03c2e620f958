//! Effects of an episode: a fold over its records, for `show` and for programs.

use std::collections::BTreeMap;

use fathom_core::effect::{
    EffectClass, EffectOutcome, EffectRequest, EffectState, Evidence, PolicyDecision,
};
use fathom_core::id::{AskId, Digest};
use fathom_core::journal::command::Command;
use fathom_core::journal::event::{EventKind, Signal};
use fathom_core::text::Text;

/// One effect or look, from its proposal to its end.
#[derive(Clone, Debug)]
pub struct EffectView {
    pub effect: EffectRequest,
    pub state: EffectState,
    /// The states it went through, the present one last.
    pub path: Vec<EffectState>,
    /// The gateway's decision; `None` until there is one.
    pub decision: Option<PolicyDecision>,
    /// Hash of the policies that it was decided by.
    pub bundle: Option<Digest>,
    /// Success and report of the dry run, if there was one.
    pub dry_run: Option<(bool, Text)>,
    /// Answer and name of the person who decided, if one was asked.
    pub person: Option<(bool, String)>,
    /// Latest receipt or detail of the platform.
    pub said: Option<Text>,
    pub evidence: Vec<Evidence>,
}

impl EffectView {
    fn new(effect: &EffectRequest) -> Self {
        Self {
            effect: effect.clone(),
            state: EffectState::Preflight,
            path: vec![EffectState::Queued, EffectState::Preflight],
            decision: None,
            bundle: None,
            dry_run: None,
            person: None,
            said: None,
            evidence: Vec::new(),
        }
    }

    /// True if it changes something outside.
    pub fn is_effect(&self) -> bool {
        self.effect.class == EffectClass::Effect
    }

    fn go(&mut self, state: EffectState) {
        // Retries repeat a state; the path lists only changes.
        if self.state != state {
            self.state = state;
            self.path.push(state);
        }
    }
}

/// All that an episode did outside, in the order of its asks.
#[derive(Clone, Debug, Default)]
pub struct EffectsView(BTreeMap<AskId, EffectView>);

impl EffectsView {
    /// The effects, each with its ask.
    pub fn iter(&self) -> impl Iterator<Item = (AskId, &EffectView)> {
        self.0.iter().map(|(ask, deed)| (*ask, deed))
    }

    pub(crate) fn on_event(&mut self, kind: &EventKind) {
        match kind {
            EventKind::EffectDecided {
                ask,
                decision,
                grounds,
            } => {
                let Some(deed) = self.0.get_mut(ask) else {
                    return;
                };
                deed.bundle = grounds.as_ref().map(|grounds| grounds.bundle);
                let dry_run = grounds
                    .as_ref()
                    .and_then(|grounds| grounds.dry_run.as_ref());
                deed.dry_run = dry_run.map(|dry_run| (dry_run.ok, dry_run.report.clone()));
                match decision {
                    PolicyDecision::Allow { .. } => deed.go(EffectState::Approved),
                    PolicyDecision::Deny { .. } => deed.go(EffectState::Failed),
                    PolicyDecision::NeedsApproval { .. } => deed.go(EffectState::AwaitingApproval),
                }
                deed.decision = Some(decision.clone());
            }
            EventKind::EffectSettled {
                ask,
                outcome,
                evidence,
            } => {
                let Some(deed) = self.0.get_mut(ask) else {
                    return;
                };
                deed.evidence.extend(evidence.iter().cloned());
                let (state, said) = match outcome {
                    EffectOutcome::Confirmed { receipt } => (EffectState::Confirmed, receipt),
                    EffectOutcome::Failed { detail } => (EffectState::Failed, detail),
                    EffectOutcome::Unknown { detail } => (EffectState::Unknown, detail),
                };
                deed.said = Some(said.clone());
                deed.go(state);
            }
            EventKind::Signal(Signal::Decide { ask, allow, by, .. }) => {
                if let Some(deed) = self.0.get_mut(ask)
                    // A decision that comes after the expiry changes nothing.
                    && deed.state == EffectState::AwaitingApproval
                {
                    deed.person = Some((*allow, by.clone()));
                    if !allow {
                        deed.go(EffectState::Failed);
                    }
                }
            }
            EventKind::Refused { ask, .. } => {
                if let Some(deed) = self.0.get_mut(ask) {
                    deed.go(EffectState::Failed);
                }
            }
            _ => {}
        }
    }

    pub(crate) fn on_command(&mut self, command: &Command) {
        match command {
            Command::Propose { ask, effect } => {
                self.0
                    .entry(*ask)
                    .or_insert_with(|| EffectView::new(effect));
            }
            Command::Attempt { ask, .. } => {
                if let Some(deed) = self.0.get_mut(ask) {
                    // A person's yes has no state of its own in the records; the attempt after it shows it.
                    deed.go(EffectState::Approved);
                    deed.go(EffectState::Attempted);
                }
            }
            Command::Reconcile { ask, .. } => {
                // A new owner asks again; the effect has not moved since.
                if let Some(deed) = self.0.get_mut(ask)
                    && deed.state != EffectState::Postcheck
                {
                    deed.go(EffectState::Unknown);
                    deed.go(EffectState::Postcheck);
                }
            }
            _ => {}
        }
    }
}
