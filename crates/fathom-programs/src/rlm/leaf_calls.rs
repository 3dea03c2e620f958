//! Leaf calls: prompts of a cell to the sub-model.

use sha2::{Digest as _, Sha256};

use super::config::RlmConfig;
use fathom_core::episode::program::{Ask, ModelAsk, OnOutage};
use fathom_core::id::Digest;
use fathom_core::model::{ChatMessage, ModelRole, ReplyMode, ReuseGrant, Speaker};
use fathom_core::packet::Packet;
use fathom_core::text::Text;

/// A prompt to the sub-model; the same one is asked once in a run.
pub(super) struct LeafCall<'a> {
    pub(super) prompt: &'a Text,
    pub(super) pattern: Option<&'a Text>,
    pub(super) tokens_max: u32,
}

impl LeafCall<'_> {
    /// Key for deduplication: prompts are long and many, so only their digest is kept.
    pub(super) fn digest(&self) -> Digest {
        let mut hasher = Sha256::new();
        for text in [Some(self.prompt), self.pattern].into_iter().flatten() {
            hasher.update((text.as_str().len() as u64).to_le_bytes());
            hasher.update(text.as_str());
        }
        hasher.update(self.tokens_max.to_le_bytes());
        Digest(hasher.finalize().into())
    }
}

/// The request to the sub-model.
pub(super) fn model_call(leaf: &LeafCall<'_>, params: &RlmConfig) -> Ask {
    let packet = Packet::plain(vec![ChatMessage::new(Speaker::User, leaf.prompt.clone())]);
    Ask::Model(Box::new(ModelAsk {
        output_tokens_max: leaf.tokens_max,
        output_tokens_min: leaf.tokens_max.min(16),
        temperature_milli: params.temperature_milli,
        pattern: leaf.pattern.cloned(),
        recall: params.reuse.then(|| ReuseGrant {
            scope: "rlm leaf".to_owned(),
            question: leaf.prompt.clone(),
            similarity_min_milli: None,
        }),
        once: true,
        delivery: ReplyMode::Whole,
        timeout: params.timeout,
        on_outage: OnOutage::Tell,
        may_close: false,
        ..ModelAsk::new(ModelRole::Sub, packet)
    }))
}
