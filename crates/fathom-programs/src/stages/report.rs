//! Report that a run of `stages` leaves beside its answer.

use serde::{Deserialize, Serialize};

use fathom_core::channel::delivery::ChannelDelivery;
use fathom_core::packet::PacketRisk;

/// Account of how an answer was reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StagesReport {
    /// The blocks that were shown, in their order.
    pub blocks: Vec<BlockNote>,
    /// Stakes of the action at the end.
    pub risk_level: PacketRisk,
    /// Confidence in the refined plan, in thousandths.
    pub confidence_milli: Option<u16>,
    /// Times the acting model was stopped.
    pub interrupts: u32,
    /// Motions put to the council, with their results.
    pub votes: Vec<VoteNote>,
    /// Commands that were run or tried.
    pub commands: Vec<CommandNote>,
    /// Verdict of the verification; `None` if the run did not get that far.
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
    pub marker: String,
    pub text: String,
    /// Delivery state on its channels, as far as known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deliveries: Vec<ChannelDelivery>,
}

/// A vote of the council.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VoteNote {
    pub proposal: String,
    /// Decision of the council.
    pub ruling: String,
}

/// Outcome of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandFate {
    /// It is under way.
    Open,
    Done,
    /// It was not, or failed.
    Failed,
    /// It was not run, because one before it failed.
    Skipped,
    /// Unknown whether it took effect.
    Unknown,
    /// It was run, and taken back.
    Reverted,
    /// It was run. Nobody knows whether it was taken back.
    PerhapsReverted,
}

/// One command of the acting model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandNote {
    pub argv: Vec<String>,
    pub fate: CommandFate,
    /// True if the command can be undone.
    pub reversible: bool,
    /// Its output, or the reason it was not run, clipped.
    pub said: String,
}
