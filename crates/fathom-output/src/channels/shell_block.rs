//! Commands for the sandbox: argument lists, which no shell interprets. The rules are in [`fathom_core::channel::shell_words`].

use fathom_core::channel::shell_words;
pub use fathom_core::channel::shell_words::{ArgumentVector, ArgvError};

use super::{BlockDelivery, BlockFlaw, DeliveryPart, OutputChannel};

/// Reasons for not running a block of commands, or one of them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShellBlockError {
    /// A line is not a valid command.
    #[error(transparent)]
    Refused(#[from] ArgvError),
    /// The block differs from what the model wrote.
    #[error("the block is not run: {0}")]
    Flawed(BlockFlaw),
    /// It is for another channel, or part of a stream.
    #[error("not a block of commands")]
    NotForShell,
}

/// The commands of a delivery to the shell. If one is refused, none should be run: what follows it may have
/// been meant as a part of it.
pub fn commands(delivery: &BlockDelivery) -> Vec<Result<ArgumentVector, ShellBlockError>> {
    match &delivery.part {
        DeliveryPart::Whole(text) if delivery.channel == OutputChannel::Shell => {
            shell_words::commands(text.as_str())
                .into_iter()
                .map(|read| read.map_err(ShellBlockError::from))
                .collect()
        }
        DeliveryPart::Flawed(_, flaw) if delivery.channel == OutputChannel::Shell => {
            vec![Err(ShellBlockError::Flawed(*flaw))]
        }
        DeliveryPart::Begin
        | DeliveryPart::Delta(_)
        | DeliveryPart::End(_)
        | DeliveryPart::Whole(_)
        | DeliveryPart::Flawed(..) => {
            vec![Err(ShellBlockError::NotForShell)]
        }
    }
}
