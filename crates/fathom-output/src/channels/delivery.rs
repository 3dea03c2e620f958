//! A block, or a part of one, for one channel.

use fathom_core::channel::marker::BlockKind;

use super::{FilteredText, OutputChannel};
use crate::routes::BlockFormat;

/// End of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockEnd {
    /// The model finished it.
    Complete,
    /// The model was stopped in the middle.
    Stopped,
}

/// Difference between a block and what the model wrote. Such a block is shown and kept, but never run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlockFlaw {
    /// Truncated.
    #[error("it is longer than a block may be")]
    TooLong,
    /// Incomplete.
    #[error("the model was stopped in the middle of it")]
    Stopped,
    /// Changed by the filters, which may have changed the meaning of a command.
    #[error("the filters changed it")]
    Altered,
}

/// Delivered part of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryPart {
    /// The block starts. For streaming channels.
    Begin,
    /// More of its text. For streaming channels.
    Delta(FilteredText),
    /// The block ends. For streaming channels.
    End(BlockEnd),
    /// The whole block. For other channels.
    Whole(FilteredText),
    /// The available part of the block. For other channels.
    Flawed(FilteredText, BlockFlaw),
}

/// A block, or a part of one, for one channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockDelivery {
    pub channel: OutputChannel,
    pub kind: BlockKind,
    /// Number of the block in the stream, counted from zero in order of appearance.
    pub block: u32,
    /// Presentation of the block.
    pub form: BlockFormat,
    pub part: DeliveryPart,
}
