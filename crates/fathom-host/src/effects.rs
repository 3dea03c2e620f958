//! The door to the outside, as the driver sees it. The gateway will stand behind it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use fathom_core::effect::{EffectOutcome, EffectRequest, IdempotencyKey, PolicyDecision};
use fathom_core::id::{AskId, Digest, EpisodeId, RunId};
use fathom_core::text::Text;
use fathom_core::unit::Timestamp;
use fathom_store::{Claim, ClaimOutcome, ClaimOwner, Journal, StoreError};
use sha2::{Digest as _, Sha256};

/// What an effect port answers with.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Decides about effects, carries them out and asks what became of them.
pub trait EffectPort: Send + Sync {
    /// Decides.
    fn decide<'a>(&'a self, effect: &'a EffectRequest) -> Answer<'a, PolicyDecision>;

    /// Carries out. The intent is durable, and the key belongs to this effect alone.
    fn attempt<'a>(
        &'a self,
        effect: &'a EffectRequest,
        key: &'a IdempotencyKey,
    ) -> Answer<'a, EffectOutcome>;

    /// Asks the platform whether it happened.
    fn reconcile<'a>(
        &'a self,
        effect: &'a EffectRequest,
        key: &'a IdempotencyKey,
    ) -> Answer<'a, EffectOutcome>;
}

/// A host without a gateway: nothing leaves it.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoEffects;

impl EffectPort for NoEffects {
    fn decide<'a>(&'a self, _: &'a EffectRequest) -> Answer<'a, PolicyDecision> {
        Box::pin(async {
            PolicyDecision::Deny {
                rule: "this host has no gateway".to_owned(),
            }
        })
    }

    fn attempt<'a>(
        &'a self,
        _: &'a EffectRequest,
        _: &'a IdempotencyKey,
    ) -> Answer<'a, EffectOutcome> {
        Box::pin(async {
            EffectOutcome::Failed {
                detail: Text::from("this host has no gateway"),
            }
        })
    }

    fn reconcile<'a>(
        &'a self,
        _: &'a EffectRequest,
        _: &'a IdempotencyKey,
    ) -> Answer<'a, EffectOutcome> {
        Box::pin(async {
            EffectOutcome::Unknown {
                detail: Text::from("this host has no gateway"),
            }
        })
    }
}

/// Who asks, for the idempotency registry.
#[derive(Clone, Debug)]
pub(crate) struct Asker {
    pub(crate) run: RunId,
    pub(crate) episode: EpisodeId,
    pub(crate) ask: AskId,
    pub(crate) at: Timestamp,
}

/// An effect on its way through the port: the kill switch is looked at before each step, and nothing is
/// allowed whose key another effect holds.
#[derive(Clone)]
pub(crate) struct Passage {
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) port: Arc<dyn EffectPort>,
}

impl Passage {
    fn killed(&self, effect: &EffectRequest) -> Result<Option<String>, StoreError> {
        let kills = self.journal.kills()?;
        Ok(kills
            .iter()
            .find(|order| order.scope.covers(&effect.target))
            .map(|order| format!("kill switch: {}", order.scope)))
    }

    /// Decides. A switch or a registry that cannot be read denies: nothing goes out on a guess.
    pub(crate) async fn decide(&self, effect: &EffectRequest, asker: Asker) -> PolicyDecision {
        let decided = self.try_decide(effect, asker).await;
        decided.unwrap_or_else(|error| PolicyDecision::Deny {
            rule: error.to_string(),
        })
    }

    async fn try_decide(
        &self,
        effect: &EffectRequest,
        asker: Asker,
    ) -> Result<PolicyDecision, StoreError> {
        if let Some(rule) = self.killed(effect)? {
            return Ok(PolicyDecision::Deny { rule });
        }
        let decision = self.port.decide(effect).await;
        if !matches!(decision, PolicyDecision::Allow { .. }) {
            return Ok(decision);
        }
        Ok(match self.claim(effect, asker)? {
            ClaimOutcome::Claimed => decision,
            ClaimOutcome::HeldBy { owner, .. } => PolicyDecision::Deny {
                rule: used_by(&owner),
            },
        })
    }

    fn claim(&self, effect: &EffectRequest, asker: Asker) -> Result<ClaimOutcome, StoreError> {
        let payload = Sha256::digest(effect.arguments.as_str().as_bytes());
        self.journal.claim(&Claim {
            key: effect.key(),
            payload: Digest(payload.into()),
            owner: ClaimOwner {
                run: asker.run,
                episode: asker.episode,
                ask: asker.ask,
            },
            at: asker.at,
        })
    }

    /// Carries out an effect whose intent is durable. A person's approval came after the gateway's look, so
    /// the key is claimed here once more; its owner may claim it as often as it likes. What stops it here stops
    /// it before it was sent.
    pub(crate) async fn attempt(&self, effect: &EffectRequest, asker: Asker) -> EffectOutcome {
        match self.obstacle(effect, asker) {
            Ok(None) => self.port.attempt(effect, &effect.key()).await,
            Ok(Some(detail)) => EffectOutcome::Failed {
                detail: Text::new(detail),
            },
            Err(error) => EffectOutcome::Failed {
                detail: Text::new(error.to_string()),
            },
        }
    }

    fn obstacle(&self, effect: &EffectRequest, asker: Asker) -> Result<Option<String>, StoreError> {
        if let Some(rule) = self.killed(effect)? {
            return Ok(Some(rule));
        }
        Ok(match self.claim(effect, asker)? {
            ClaimOutcome::Claimed => None,
            ClaimOutcome::HeldBy { owner, .. } => Some(used_by(&owner)),
        })
    }

    pub(crate) async fn reconcile(&self, effect: &EffectRequest) -> EffectOutcome {
        self.port.reconcile(effect, &effect.key()).await
    }
}

fn used_by(owner: &ClaimOwner) -> String {
    format!(
        "its key was used by run {}, episode {}",
        owner.run, owner.episode
    )
}
