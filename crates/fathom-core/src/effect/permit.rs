//! The single-use authority to carry out one effect.

use super::EffectRequest;
use crate::id::{AskId, EpisodeId};

/// Leave to carry out one effect, once.
///
/// Only a [`Run`](crate::run::Run) makes one, and only when the record of the decision that allows the effect is durable.
/// It cannot be copied, stored or read from anywhere:
///
/// ```compile_fail,E0599
/// # use fathom_core::effect::EffectPermit;
/// fn twice(permit: EffectPermit) -> (EffectPermit, EffectPermit) {
///     (permit.clone(), permit)
/// }
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct EffectPermit {
    episode: EpisodeId,
    ask: AskId,
    effect: EffectRequest,
}

impl EffectPermit {
    pub(crate) const fn new(episode: EpisodeId, ask: AskId, effect: EffectRequest) -> Self {
        Self {
            episode,
            ask,
            effect,
        }
    }

    /// The episode that asked.
    pub const fn episode(&self) -> &EpisodeId {
        &self.episode
    }

    /// The ask for which the effect is carried out.
    pub const fn ask(&self) -> AskId {
        self.ask
    }

    /// The effect that is allowed.
    pub const fn effect(&self) -> &EffectRequest {
        &self.effect
    }
}
