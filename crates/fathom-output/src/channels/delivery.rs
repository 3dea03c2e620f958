//! A block, or a part of one, for one channel.

use fathom_core::marker::BlockKind;

use super::{Channel, Clean};
use crate::matrix::Form;

/// How a block ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The model wrote it to its end.
    Complete,
    /// The model was stopped in the middle of it.
    Stopped,
}

/// Why a block is not what the model wrote. Such a block is shown and kept, and never run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// Only its beginning is there.
    #[error("it is longer than a block may be")]
    TooLong,
    /// Only its beginning was written.
    #[error("the model was stopped in the middle of it")]
    Stopped,
    /// The filters changed it, and with a command's words they may have changed what it does.
    #[error("the filters changed it")]
    Altered,
}

/// What of a block is delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// It begins. On channels that stream.
    Begin,
    /// More of its text. On channels that stream.
    Delta(Clean),
    /// It ends. On channels that stream.
    End(Ending),
    /// All of it. On channels that take whole blocks.
    Whole(Clean),
    /// What there is of it. On channels that take whole blocks.
    Flawed(Clean, Flaw),
}

/// A block, or a part of one, for one channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Where it goes.
    pub channel: Channel,
    pub kind: BlockKind,
    /// Which block of the stream it is, counted from zero in the order in which they begin.
    pub block: u32,
    /// How it is shown.
    pub form: Form,
    /// What of it.
    pub part: Part,
}
