//! Facts about a packet that the model does not see.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::fnv::fnv1a;
use crate::id::{AskId, EpisodeId};
use crate::unit::Timestamp;

/// Names a packet within its run, in eight characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct PacketId(u32);

impl PacketId {
    /// The packet that answers to this ask of this episode.
    pub fn of(episode: &EpisodeId, ask: AskId) -> Self {
        let hash = fnv1a(&format!("{episode}/{ask}"));
        let folded = (hash >> 32) ^ (hash & 0xffff_ffff);
        Self(u32::try_from(folded).unwrap_or_default())
    }
}

impl fmt::Display for PacketId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.0)
    }
}

impl From<PacketId> for String {
    fn from(id: PacketId) -> Self {
        id.to_string()
    }
}

/// Text that is not a packet id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a packet id has eight hexadecimal digits")]
pub struct InvalidPacketId;

impl TryFrom<String> for PacketId {
    type Error = InvalidPacketId;

    fn try_from(text: String) -> Result<Self, InvalidPacketId> {
        let digits = text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !digits {
            return Err(InvalidPacketId);
        }
        u32::from_str_radix(&text, 16)
            .map(Self)
            .map_err(|_| InvalidPacketId)
    }
}

/// The stakes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PacketRisk {
    Low,
    Med,
    High,
}

/// A part of a packet as the log tells it: its size, never its words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PacketItem {
    pub name: String,
    /// Its tokens, counted by itself.
    pub tokens: u64,
    /// Entries that are in it, of how many; only for what has entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entries: Option<(u32, u32)>,
    /// Its tokens before it was shortened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortened_from: Option<u64>,
}

/// Metadata that is logged and stripped before the model sees the packet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PacketMeta {
    pub id: PacketId,
    /// The packet that it follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<PacketId>,
    pub at: Timestamp,
    /// Fingerprint of the identity in whose name it is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<String>,
    /// Confidence of the asking side, in thousandths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence_milli: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<PacketRisk>,
    /// Number of attempts before this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retries: Option<u16>,
    pub items: Vec<PacketItem>,
}
