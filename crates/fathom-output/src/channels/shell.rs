//! Commands for the sandbox: argument lists, which no shell interprets. The rules are in [`fathom_core::argv`].

use fathom_core::argv;
pub use fathom_core::argv::{Argv, Refusal};

use super::{Channel, Delivery, Flaw, Part};

/// Reasons for not running a block of commands, or one of them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotRun {
    /// A line is not a valid command.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The block differs from what the model wrote.
    #[error("the block is not run: {0}")]
    Flawed(Flaw),
    /// It is for another channel, or part of a stream.
    #[error("not a block of commands")]
    NotForShell,
}

/// The commands of a delivery to the shell. If one is refused, none should be run: what follows it may have
/// been meant as a part of it.
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
