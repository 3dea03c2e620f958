//! Holders of idempotency keys.

use fathom_core::effect::IdempotencyKey;

use super::MemoryState;
use crate::journal::idempotency::{ClaimOutcome, KeyClaim};

impl MemoryState {
    /// The claim that holds a key.
    pub(super) fn holder(&self, key: &IdempotencyKey) -> Option<&KeyClaim> {
        let mut claims = self.claims.get(key)?.iter().rev();
        claims
            .find(|(_, released)| !released)
            .map(|(claim, _)| claim)
    }

    /// Outcome that a claim would have.
    pub(super) fn would_claim(&self, claim: &KeyClaim) -> ClaimOutcome {
        let allowed = self.allowed.get(&claim.key).copied().unwrap_or(1);
        match self.holder(&claim.key) {
            Some(held) if !held.is_by(claim) && self.claims[&claim.key].len() >= allowed => {
                ClaimOutcome::HeldBy {
                    owner: held.owner.clone(),
                    payload: held.payload,
                    at: held.at,
                }
            }
            Some(_) | None => ClaimOutcome::Claimed,
        }
    }
}
