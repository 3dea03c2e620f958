//! What an episode remembers of the texts that its packets are made of.

use std::collections::BTreeMap;

use crate::hash::fnv1a;
use crate::id::AskId;
use crate::model::ModelRole;
use crate::packet::{Field, PacketId, Shown};
use crate::text::Text;

/// Texts whose weight an episode remembers.
const WEIGHTS_MAX: usize = 16_384;

/// What an episode knows of the texts that its packets are made of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scales {
    weights: BTreeMap<(ModelRole, u64), u64>,
    /// Fields that were shortened, by the model that counts, the field and the original.
    pub(super) shortened: BTreeMap<(ModelRole, Field, u64), Shown>,
    /// Calls that shorten a field, and the calls they do it for.
    pub(crate) errands: BTreeMap<AskId, AskId>,
    pub(super) last_packet: Option<PacketId>,
}

impl Scales {
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
            self.weights.clear();
        }
        for (text, weight) in texts.iter().zip(weights) {
            self.weights.insert((model, hash(text)), *weight);
        }
    }
}

/// Two texts that share a value could only make a packet be measured once more.
pub(super) fn hash(text: &Text) -> u64 {
    fnv1a(text.as_str())
}
