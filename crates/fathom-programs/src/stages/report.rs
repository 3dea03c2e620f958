//! What a run of `stages` leaves beside its answer.

use serde::{Deserialize, Serialize};

use fathom_core::channel::delivery::ChannelDelivery;
use fathom_core::packet::PacketRisk;

/// How an answer was come by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StagesReport {
    /// The blocks that were shown, in their order.
    pub blocks: Vec<BlockNote>,
    /// How much is at stake, as it stood at the end.
    pub risk_level: PacketRisk,
    /// How sure the refined plan was, in thousandths.
    pub confidence_milli: Option<u16>,
    /// How often the acting model was stopped.
    pub interrupts: u32,
    /// What was put to the council, and what it said.
    pub votes: Vec<VoteNote>,
    /// Commands that were run or tried.
    pub commands: Vec<CommandNote>,
    /// Whether the result was verified; nothing where it did not come to that.
    pub verified: Option<bool>,
}

impl Default for StagesReport {
    fn default() -> Self {
        Self {
            blocks: Vec::new(),
            risk_level: PacketRisk::Low,
            confidence_milli: None,
            interrupts: 0,
            votes: Vec::new(),
            commands: Vec::new(),
            verified: None,
        }
    }
}

/// A block that was shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockNote {
    /// Its marker.
    pub marker: String,
    /// What it says.
    pub text: String,
    /// What became of it on its channels, as far as that is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deliveries: Vec<ChannelDelivery>,
}

/// A vote of the council.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VoteNote {
    /// What was proposed.
    pub proposal: String,
    /// What came of it.
    pub ruling: String,
}

/// What became of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandFate {
    /// It is under way.
    Open,
    /// It was run.
    Done,
    /// It was not, or failed.
    Failed,
    /// It was not run, because one before it failed.
    Skipped,
    /// Nobody knows.
    Unknown,
    /// It was run, and taken back.
    Reverted,
    /// It was run. Nobody knows whether it was taken back.
    PerhapsReverted,
}

/// A command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandNote {
    /// Its words.
    pub argv: Vec<String>,
    /// What became of it.
    pub fate: CommandFate,
    /// Whether it can be taken back.
    pub reversible: bool,
    /// What it printed, or why it was not run, clipped.
    pub said: String,
}
