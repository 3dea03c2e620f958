//! Commands for the sandbox: lists of arguments, which no shell ever reads. The rules are those of
//! [`fathom_core::argv`].

use fathom_core::argv;
pub use fathom_core::argv::{Argv, Refusal};

use super::{Channel, Delivery, Flaw, Part};

/// Why a block of commands, or one of them, is not run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotRun {
    /// A line cannot be meant.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The block is not what the model wrote.
    #[error("the block is not run: {0}")]
    Flawed(Flaw),
    /// It is for another channel, or a part of a stream.
    #[error("it is no block of commands")]
    NotForShell,
}

/// The commands of a delivery to the shell. Where one is refused, none should be run: what follows it may have been meant
/// as a part of it.
pub fn commands(delivery: &Delivery) -> Vec<Result<Argv, NotRun>> {
    match &delivery.part {
        Part::Whole(text) if delivery.channel == Channel::Shell => argv::commands(text.as_str())
            .into_iter()
            .map(|read| read.map_err(NotRun::from))
            .collect(),
        Part::Flawed(_, flaw) if delivery.channel == Channel::Shell => {
            vec![Err(NotRun::Flawed(*flaw))]
        }
        Part::Begin | Part::Delta(_) | Part::End(_) | Part::Whole(_) | Part::Flawed(..) => {
            vec![Err(NotRun::NotForShell)]
        }
    }
}
