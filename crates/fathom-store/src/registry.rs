//! The idempotency registry: who may send what has one key.

use fathom_core::effect::IdempotencyKey;
use fathom_core::id::{AskId, Digest, EpisodeId, RunId};
use fathom_core::unit::Timestamp;
use serde::{Deserialize, Serialize};

/// The ask that wants to send, or did.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ClaimOwner {
    pub run: RunId,
    pub episode: EpisodeId,
    pub ask: AskId,
}

/// The wish to send something once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// What is sent, whatever its words.
    pub key: IdempotencyKey,
    /// The digest of its words.
    pub payload: Digest,
    /// Who wants to send it.
    pub owner: ClaimOwner,
    pub at: Timestamp,
}

impl Claim {
    /// Whether it is the same ask's, for the same words.
    pub(crate) fn is_by(&self, other: &Self) -> bool {
        self.owner == other.owner && self.payload == other.payload
    }
}

/// Whether a claim holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimOutcome {
    /// It does, durably. The same ask gets the same answer again for the same payload.
    Claimed,
    /// Another ask was first, or this one with another payload.
    HeldBy {
        /// Who holds the key.
        owner: ClaimOwner,
        /// What it was claimed for.
        payload: Digest,
        /// Since when.
        at: Timestamp,
    },
}

/// A person's word that the holder of a key may be passed over, once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    pub key: IdempotencyKey,
    /// Who says so.
    pub by: String,
    pub at: Timestamp,
    pub why: String,
}

/// What an override did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverrideOutcome {
    /// The next claim by another ask holds.
    Recorded,
    /// Nobody holds the key, so there is nobody to pass over.
    NothingHeld,
}
