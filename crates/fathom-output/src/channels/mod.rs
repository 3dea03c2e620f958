//! Channels: destinations of blocks, and the wire format of each.
//!
//! Nothing here sends anything: Discord and the shell are effects behind the gateway, the rest is up to the
//! host.

mod delivery;
pub mod discord;
pub mod event_stream;
mod filtered_text;
pub mod shell_block;

use std::fmt;

use serde::Serialize;

pub use delivery::{BlockDelivery, BlockEnd, BlockFlaw, DeliveryPart};
pub use filtered_text::{FilterStream, FilteredText, OutputFilter, TextFilter};

/// A destination of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputChannel {
    /// The terminal.
    Cli,
    /// Browsers, over an event stream.
    Web,
    /// A channel of a Discord server.
    Discord,
    /// The council's roles.
    Council,
    /// Programs in the sandbox, each after its approval.
    Shell,
    /// Thought seeds and results, kept for later.
    Memory,
}

impl OutputChannel {
    /// Every channel.
    pub const ALL: [Self; 6] = [
        Self::Cli,
        Self::Web,
        Self::Discord,
        Self::Council,
        Self::Shell,
        Self::Memory,
    ];

    /// The channel's name in charters.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cli => "cli",
            Self::Web => "web",
            Self::Discord => "discord",
            Self::Council => "council",
            Self::Shell => "shell",
            Self::Memory => "memory",
        }
    }

    /// The channel with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|channel| channel.as_str() == name)
    }

    /// True if a block is shown while it is written. Other channels take whole blocks.
    pub const fn streams(self) -> bool {
        match self {
            Self::Cli | Self::Web => true,
            Self::Discord | Self::Council | Self::Shell | Self::Memory => false,
        }
    }
}

impl fmt::Display for OutputChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
#[path = "open_tests.rs"]
mod open;
