//! A block, or a part of one, for one channel.

use fathom_core::marker::BlockKind;

use super::{Channel, Clean};
use crate::matrix::Form;

/// End of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The model finished it.
    Complete,
    /// The model was stopped in the middle.
    Stopped,
}

/// Difference between a block and what the model wrote. Such a block is shown and kept, but never run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
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
pub enum Part {
    /// The block starts. For streaming channels.
    Begin,
    /// More of its text. For streaming channels.
    Delta(Clean),
    /// The block ends. For streaming channels.
    End(Ending),
    /// The whole block. For other channels.
    Whole(Clean),
    /// The available part of the block. For other channels.
    Flawed(Clean, Flaw),
}

/// A block, or a part of one, for one channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    pub channel: Channel,
    pub kind: BlockKind,
    /// Number of the block in the stream, counted from zero in order of appearance.
    pub block: u32,
    /// Presentation of the block.
    pub form: Form,
    pub part: Part,
}
