//! The idempotency registry: the right to send under a key.

use fathom_core::effect::IdempotencyKey;
use fathom_core::id::{AskId, Digest, EpisodeId, RunId};
use fathom_core::unit::Timestamp;
use serde::{Deserialize, Serialize};

/// The ask that wants to send, or has sent.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ClaimOwner {
    pub run: RunId,
    pub episode: EpisodeId,
    pub ask: AskId,
}

/// A claim to send something once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyClaim {
    /// Identity of the effect, whatever its wording.
    pub key: IdempotencyKey,
    /// Digest of its wording.
    pub payload: Digest,
    pub owner: ClaimOwner,
    pub at: Timestamp,
}

impl KeyClaim {
    /// True if it comes from the same ask, for the same wording.
    pub(crate) fn is_by(&self, other: &Self) -> bool {
        self.owner == other.owner && self.payload == other.payload
    }
}

/// Outcome of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimOutcome {
    /// Claimed, durably. The same ask gets the same answer again for the same payload.
    Claimed,
    /// Another ask was first, or this one with another payload.
    HeldBy {
        /// Holder of the key.
        owner: ClaimOwner,
        /// Payload that it was claimed for.
        payload: Digest,
        /// Time of the claim.
        at: Timestamp,
    },
}

/// A person's permission to disregard the holder of a key, once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyOverride {
    pub key: IdempotencyKey,
    /// Author of the permission.
    pub by: String,
    pub at: Timestamp,
    pub why: String,
}

/// Outcome of an override.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverrideOutcome {
    /// The next claim by another ask is granted.
    Recorded,
    /// No claim holds the key, so there is nothing to override.
    NothingHeld,
}
