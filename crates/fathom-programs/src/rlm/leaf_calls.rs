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
            // The length keeps prompt and pattern apart: without it, moving text from one to the other gives the same
            // digest.
            hasher.update((text.as_str().len() as u64).to_le_bytes());
            hasher.update(text.as_str());
        }
        // A shorter cap may cut the reply, so its answer does not stand for a longer one.
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
            // Only the same prompt counts: leaf calls on neighbouring entries are alike, and their answers are not.
            similarity_min_milli: None,
        }),
        // Cells of sibling episodes may ask the same thing; the run then sends one request for all of them.
        once: true,
        // The cell waits for the whole answer, so streaming would only fill the journal.
        delivery: ReplyMode::Whole,
        timeout: params.timeout,
        // Not counted as an outage of the episode: many leaf calls may fail at once, and the code can catch each
        // failure.
        on_outage: OnOutage::Tell,
        // The one call that closing leaves is for the turn that submits the answer.
        may_close: false,
        ..ModelAsk::new(ModelRole::Sub, packet)
    }))
}
