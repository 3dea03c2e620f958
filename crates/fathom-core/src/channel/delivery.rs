//! Blocks on their way to channels: what a program asks of the domain `channels`, and what it is told.
//!
//! The request is durable before anything is delivered, and names the block for ever: a host that is asked again after a
//! crash delivers what was not delivered, and says where it cannot know.

use serde::{Deserialize, Serialize};

use crate::council_bus::{CouncilRole, MessageType};
use crate::packet::PacketRisk;

/// The name of the domain.
pub const DOMAIN: &str = "channels";

/// The channel whose blocks are run, not shown.
pub const SHELL: &str = "shell";

/// The channel on which a loop reports its own progress, each time as JSON.
// Such a report holds names and states, never content, so a host may log it unmasked.
pub const TRACE_CHANNEL: &str = "phases";

/// A way to a channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChannelRoute {
    pub channel: String,
    /// True for a note there, beside the conversation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub log: bool,
}

/// A block that is to be delivered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeliveryRequest {
    /// Number of the block within its episode, counted from zero.
    pub block: u32,
    pub kind: String,
    /// The text as the model wrote it. The host filters it.
    pub text: String,
    pub to: Vec<ChannelRoute>,
    /// The council role that speaks.
    pub speaker: CouncilRole,
    /// Its message type for the council.
    pub message: MessageType,
    pub risk: PacketRisk,
    /// Confidence of the plan, in thousandths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence_milli: Option<u16>,
}

/// Outcome of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryState {
    /// It is there.
    Delivered,
    /// It is not there.
    Failed,
    /// It may be there: nobody can tell, and it is not sent again.
    Unknown,
    /// The channel is not set up here.
    Absent,
}

/// Outcome of a block on one channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelDelivery {
    pub channel: String,
    /// True for a note there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub log: bool,
    pub state: DeliveryState,
    /// The reason, if it was not delivered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// Answer of the domain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeliveryReport {
    /// One for each way.
    pub deliveries: Vec<ChannelDelivery>,
}
