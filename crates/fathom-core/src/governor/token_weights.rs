//! Token counts and shortened header fields that an episode has seen so far.

use std::collections::BTreeMap;

use crate::fnv::fnv1a;
use crate::id::AskId;
use crate::model::ModelRole;
use crate::packet::{HeaderField, PacketId, RenderedField};
use crate::text::Text;

/// Texts whose weight an episode remembers.
const WEIGHTS_MAX: usize = 16_384;

/// Token counts and shortened header fields that an episode has seen so far.
#[derive(Clone, Debug, Default)]
pub(super) struct TokenWeights {
    weights: BTreeMap<(ModelRole, u64), u64>,
    /// Fields that were shortened, by the model that counts, the field and the original.
    shortened: BTreeMap<(ModelRole, HeaderField, u64), RenderedField>,
    /// Calls that shorten a field, and the calls they do it for.
    errands: BTreeMap<AskId, AskId>,
    last_packet: Option<PacketId>,
}

impl TokenWeights {
    pub(super) fn weight(&self, model: ModelRole, text: &Text) -> Option<u64> {
        if text.as_str().is_empty() {
            return Some(0);
        }
        self.weights.get(&(model, hash(text))).copied()
    }

    /// A weight that was asked for; a text that nobody weighed counts its bytes, which no tokenizer exceeds.
    pub(super) fn sure_weight(&self, model: ModelRole, text: &Text) -> u64 {
        let bytes = text.as_str().len() as u64;
        self.weight(model, text).unwrap_or(bytes)
    }

    pub(super) fn learn(&mut self, model: ModelRole, texts: &[Text], weights: &[u64]) {
        if self.weights.len() + texts.len() > WEIGHTS_MAX {
            // All at once: which of them come again is unknown, and what is forgotten is only weighed once more.
            self.weights.clear();
        }
        for (text, weight) in texts.iter().zip(weights) {
            self.weights.insert((model, hash(text)), *weight);
        }
    }

    /// The short form of a field that was shortened before.
    pub(super) fn shortened(
        &self,
        model: ModelRole,
        field: HeaderField,
        original: &Text,
    ) -> Option<&RenderedField> {
        self.shortened.get(&(model, field, hash(original)))
    }

    pub(super) fn remember_shortened(
        &mut self,
        model: ModelRole,
        field: HeaderField,
        original: &Text,
        shown: RenderedField,
    ) {
        self.shortened.insert((model, field, hash(original)), shown);
    }

    pub(super) fn forget_shortened(
        &mut self,
        model: ModelRole,
        field: HeaderField,
        original: &Text,
    ) {
        self.shortened.remove(&(model, field, hash(original)));
    }

    /// Notes that `errand` shortens a field for `outer`.
    pub(super) fn begin_errand(&mut self, errand: AskId, outer: AskId) {
        self.errands.insert(errand, outer);
    }

    /// The call that `errand` shortens a field for. None if it is a program's own call.
    pub(super) fn served_by(&self, errand: AskId) -> Option<AskId> {
        self.errands.get(&errand).copied()
    }

    pub(super) fn end_errand(&mut self, errand: AskId) -> Option<AskId> {
        self.errands.remove(&errand)
    }

    /// The packet that the next one follows.
    pub(super) fn last_packet(&self) -> Option<PacketId> {
        self.last_packet
    }

    pub(super) fn note_packet(&mut self, id: PacketId) {
        self.last_packet = Some(id);
    }
}

/// Two texts that share a value could only make a packet be measured once more.
pub(super) fn hash(text: &Text) -> u64 {
    fnv1a(text.as_str())
}
