//! Messages from outside an episode.

use serde::{Deserialize, Serialize};

use crate::effect::KillScope;
use crate::id::{AskId, Digest, EpisodeId};

/// A message from outside the episode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Signal {
    /// Stop and keep what there is.
    Cancel,
    /// A kill switch is active.
    Kill { scope: KillScope },
    /// A person lifted the kill switch.
    Lift {
        /// The scope that was lifted.
        scope: KillScope,
    },
    /// A person decided on an effect.
    Decide {
        episode: EpisodeId,
        ask: AskId,
        /// Yes or no.
        allow: bool,
        by: String,
        /// The digest of what was decided about: it must be what the gateway asked.
        binding: Digest,
    },
}

/// The reason why an owner let go of an unfinished run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReleaseReason {
    /// A person interrupted it.
    Interrupted,
    /// It waits for a person's decision.
    AwaitingApproval,
    /// A model cannot be reached.
    Outage,
}
