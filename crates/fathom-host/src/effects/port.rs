//! The effect port: the only way of a driver to the outside, with the guard before it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use fathom_core::contract::{AgentRole, Autonomy};
use fathom_core::effect::{
    DecisionGrounds, EffectClass, EffectOutcome, EffectPermit, EffectRequest, Evidence,
    PolicyDecision,
};
use fathom_core::id::{AskId, Digest, EpisodeId, RunId};
use fathom_core::journal::event::EpisodeSpec;
use fathom_core::text::Text;
use fathom_core::unit::Timestamp;
use fathom_store::{
    ApprovalRecord, ClaimOutcome, ClaimOwner, Journal, KeyClaim, StoreError, UseOutcome,
};
use sha2::{Digest as _, Sha256};

/// Future that an effect port returns.
pub type PortFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The caller of an effect: an episode of a run, and one ask of it.
#[derive(Clone, Debug)]
pub struct EffectCaller {
    pub run: RunId,
    /// The spec that the run's root began with, which names the charter to decide by. The first effect may be asked
    /// for before any record is on disk, so it comes from memory and not from the journal.
    pub root: Arc<EpisodeSpec>,
    pub episode: EpisodeId,
    pub ask: AskId,
    /// The episode's role, which the policies see as the principal.
    pub role: AgentRole,
    /// The episode's autonomy, by its contract.
    pub autonomy: Autonomy,
    pub at: Timestamp,
}

impl EffectCaller {
    pub(crate) fn owner(&self) -> ClaimOwner {
        ClaimOwner {
            run: self.run,
            episode: self.episode.clone(),
            ask: self.ask,
        }
    }
}

/// A decision with its grounds.
#[derive(Clone, Debug)]
pub struct EffectDecision {
    pub decision: PolicyDecision,
    /// Grounds of the decision; `None` if no policy was asked.
    pub grounds: Option<Box<DecisionGrounds>>,
}

impl EffectDecision {
    /// A denial that comes from no policy.
    pub fn deny(rule: impl Into<String>) -> Self {
        Self {
            decision: PolicyDecision::Deny { rule: rule.into() },
            grounds: None,
        }
    }
}

/// Outcome of an attempt or of a check, with its evidence.
#[derive(Clone, Debug)]
pub struct EffectSettlement {
    pub outcome: EffectOutcome,
    pub evidence: Vec<Evidence>,
}

impl EffectSettlement {
    /// An effect that certainly was not sent.
    pub fn failed(detail: impl Into<String>) -> Self {
        EffectOutcome::Failed {
            detail: Text::new(detail.into()),
        }
        .into()
    }
}

impl From<EffectOutcome> for EffectSettlement {
    fn from(outcome: EffectOutcome) -> Self {
        Self {
            outcome,
            evidence: Vec::new(),
        }
    }
}

/// Decides about effects, carries them out and asks what became of them.
pub trait EffectPort: Send + Sync {
    /// Decides about an effect. Nothing is sent.
    fn decide<'a>(
        &'a self,
        effect: &'a EffectRequest,
        asker: &'a EffectCaller,
    ) -> PortFuture<'a, EffectDecision>;

    /// Carries an effect out. Its decision is durable, and its key belongs to this effect alone.
    fn attempt<'a>(
        &'a self,
        permit: EffectPermit,
        asker: &'a EffectCaller,
    ) -> PortFuture<'a, EffectSettlement>;

    /// Asks the platform whether an effect happened.
    fn reconcile<'a>(
        &'a self,
        effect: &'a EffectRequest,
        asker: &'a EffectCaller,
    ) -> PortFuture<'a, EffectSettlement>;
}

/// A host without a gateway: nothing leaves it.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoEffects;

impl EffectPort for NoEffects {
    fn decide<'a>(
        &'a self,
        _: &'a EffectRequest,
        _: &'a EffectCaller,
    ) -> PortFuture<'a, EffectDecision> {
        Box::pin(async { EffectDecision::deny("this host has no gateway") })
    }

    fn attempt<'a>(
        &'a self,
        _: EffectPermit,
        _: &'a EffectCaller,
    ) -> PortFuture<'a, EffectSettlement> {
        Box::pin(async { EffectSettlement::failed("this host has no gateway") })
    }

    fn reconcile<'a>(
        &'a self,
        _: &'a EffectRequest,
        _: &'a EffectCaller,
    ) -> PortFuture<'a, EffectSettlement> {
        Box::pin(async {
            EffectOutcome::Unknown {
                detail: Text::from("this host has no gateway"),
            }
            .into()
        })
    }
}

/// An effect on its way through the port: the kill switch is looked at before each step, and nothing is
/// allowed whose key another effect holds.
#[derive(Clone)]
pub(crate) struct GuardedPort {
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) port: Arc<dyn EffectPort>,
}

impl GuardedPort {
    fn killed(&self, effect: &EffectRequest) -> Result<Option<String>, StoreError> {
        let kills = self.journal.kills()?;
        Ok(kills
            .iter()
            .find(|order| order.scope.covers(&effect.target))
            .map(|order| format!("kill switch: {}", order.scope)))
    }

    /// Decides. A switch or a registry that cannot be read denies: nothing goes out on a guess.
    pub(crate) async fn decide(
        &self,
        effect: &EffectRequest,
        asker: &EffectCaller,
    ) -> EffectDecision {
        let decided = self.try_decide(effect, asker).await;
        decided.unwrap_or_else(|error| EffectDecision::deny(error.to_string()))
    }

    async fn try_decide(
        &self,
        effect: &EffectRequest,
        asker: &EffectCaller,
    ) -> Result<EffectDecision, StoreError> {
        // Before the port is asked, since a decision may rehearse, and a rehearsal reaches outside.
        if let Some(rule) = self.killed(effect)? {
            return Ok(EffectDecision::deny(rule));
        }
        let decided = self.port.decide(effect, asker).await;
        match &decided.decision {
            PolicyDecision::Allow { .. } => {}
            PolicyDecision::Deny { .. } => return Ok(decided),
            PolicyDecision::NeedsApproval { terms, .. } => {
                let terms = (**terms).clone();
                let approval = ApprovalRecord::open(asker.owner(), terms, asker.at);
                self.journal.open_approval(&approval)?;
                return Ok(decided);
            }
        }
        // Only a look: the proposal may not be durable yet, and a key that was claimed for it would outlive it.
        Ok(match self.holder(effect, asker)? {
            None => decided,
            Some(holder) => EffectDecision {
                decision: PolicyDecision::Deny { rule: holder },
                ..decided
            },
        })
    }

    /// Another holder of the key of an effect, in words.
    fn holder(
        &self,
        effect: &EffectRequest,
        asker: &EffectCaller,
    ) -> Result<Option<String>, StoreError> {
        if effect.class == EffectClass::Read {
            return Ok(None);
        }
        let outcome = self.journal.would_claim(&claim(effect, asker))?;
        Ok(taken(effect, outcome))
    }

    /// Claims the key of an effect; says who has it when that is another. A look at the world needs no key.
    fn claim(
        &self,
        effect: &EffectRequest,
        asker: &EffectCaller,
    ) -> Result<Option<String>, StoreError> {
        if effect.class == EffectClass::Read {
            return Ok(None);
        }
        let outcome = self.journal.claim(&claim(effect, asker))?;
        Ok(taken(effect, outcome))
    }

    /// Carries out an effect whose intent is durable, once its key is claimed. Where a person was asked, their yes is
    /// used up. What stops it here stops it before it was sent.
    pub(crate) async fn attempt(
        &self,
        permit: EffectPermit,
        asker: &EffectCaller,
    ) -> EffectSettlement {
        match self.obstacle(permit.effect(), asker) {
            Ok(None) => {
                let effect = permit.effect().clone();
                let settled = self.port.attempt(permit, asker).await;
                self.free(&effect, asker, &settled);
                settled
            }
            Ok(Some(detail)) => {
                let settled = EffectSettlement::failed(detail);
                self.free(permit.effect(), asker, &settled);
                settled
            }
            // The key is not given back: a store that failed may or may not have claimed it.
            Err(error) => EffectSettlement::failed(error.to_string()),
        }
    }

    /// Gives the key of an effect back that certainly was not sent. If that fails, a person can still pass over it.
    fn free(&self, effect: &EffectRequest, asker: &EffectCaller, settled: &EffectSettlement) {
        if effect.class == EffectClass::Effect
            && matches!(settled.outcome, EffectOutcome::Failed { .. })
            && let Err(error) = self.journal.release(&effect.key(), &asker.owner())
        {
            tracing::warn!(code = error.code(), %error, "cannot release an idempotency key");
        }
    }

    fn obstacle(
        &self,
        effect: &EffectRequest,
        asker: &EffectCaller,
    ) -> Result<Option<String>, StoreError> {
        if let Some(rule) = self.killed(effect)? {
            return Ok(Some(rule));
        }
        // The claim comes before the approval: an approval is used once, and a key that another holds must not use it
        // up.
        if let Some(holder) = self.claim(effect, asker)? {
            return Ok(Some(holder));
        }
        Ok(match self.journal.use_approval(&asker.owner(), asker.at)? {
            UseOutcome::NotAsked | UseOutcome::Used => None,
            UseOutcome::Refused(state) => Some(format!("the approval is {}", state.name())),
        })
    }

    pub(crate) async fn reconcile(
        &self,
        effect: &EffectRequest,
        asker: &EffectCaller,
    ) -> EffectSettlement {
        // Its key may have been given back before a crash lost the reason. Until that is known again it is held.
        if let Err(error) = self.claim(effect, asker) {
            tracing::warn!(code = error.code(), %error, "cannot claim an idempotency key");
        }
        // Under the kill switch nothing goes out, not even a question. A person has to look then.
        let unasked = |why: String| EffectOutcome::Unknown {
            detail: Text::new(why),
        };
        let settled = match self.killed(effect) {
            Ok(None) => self.port.reconcile(effect, asker).await,
            Ok(Some(rule)) => unasked(rule).into(),
            Err(error) => unasked(error.to_string()).into(),
        };
        self.free(effect, asker, &settled);
        settled
    }
}

fn claim(effect: &EffectRequest, asker: &EffectCaller) -> KeyClaim {
    let payload = Sha256::digest(effect.arguments.as_str().as_bytes());
    KeyClaim {
        key: effect.key(),
        payload: Digest(payload.into()),
        owner: asker.owner(),
        at: asker.at,
    }
}

/// The holder of the key, if that is another.
fn taken(effect: &EffectRequest, outcome: ClaimOutcome) -> Option<String> {
    match outcome {
        ClaimOutcome::Claimed => None,
        ClaimOutcome::HeldBy { owner, .. } => Some(format!(
            "idempotency key `{}` was already used by run {}, episode {}",
            effect.key().as_str(),
            owner.run,
            owner.episode
        )),
    }
}
