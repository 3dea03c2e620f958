//! The council protocol: messages that roles send each other, with the journal as their bus.
//!
//! A program posts a [`Draft`]; the governor stamps it and writes the [`Envelope`] into the record, where whoever reads
//! the journal finds it ([`messages`]). An [`Assembly`] folds envelopes into motions, votes and who is active, so a
//! reader comes to the same outcome as the episode that held the vote.

mod assembly;
mod envelope;
mod escalation;
mod liveness;
mod outcome;
mod role;

pub use assembly::{Assembly, NotTaken};
pub use envelope::{
    Ballot, Draft, Envelope, EnvelopeError, InvalidMessageId, MessageId, MessageType, Pulse,
    SENDER_CHARS_MAX,
};
pub use escalation::{CONFIDENCE_MIN, Cause, Escalations, INTERRUPTS_MAX, Interrupts};
pub use liveness::{HEARTBEAT, Liveness, SILENCE_MAX};
pub use outcome::{Cast, Count, Decider, Outcome, QUORUM, Ruling, WhyPerson};
pub use role::CouncilRole;

use crate::command::Command;
use crate::event::Record;

/// The messages that these records hold, in their order.
pub fn messages<'a>(
    records: impl IntoIterator<Item = &'a Record>,
) -> impl Iterator<Item = &'a Envelope> {
    let commands = records.into_iter().flat_map(|record| &record.commands);
    commands.filter_map(|command| match command {
        Command::Post { envelope } => Some(&**envelope),
        _ => None,
    })
}
