//! The council protocol: messages that roles send each other, with the journal as their bus.
//!
//! A program posts a [`MessageDraft`]; the governor stamps it and writes the [`Envelope`] into the record, where whoever reads
//! the journal finds it ([`messages`]). An [`RoleAssembly`] folds envelopes into motions, votes and who is active, so a
//! reader comes to the same outcome as the episode that held the vote.

mod assembly;
mod envelope;
mod escalation;
mod liveness;
mod motion;
mod role;

pub use assembly::{MessageRejection, RoleAssembly};
pub use envelope::{
    Envelope, EnvelopeError, HeartbeatState, InvalidMessageId, MessageDraft, MessageId,
    MessageType, MotionVote, SENDER_CHARS_MAX,
};
pub use escalation::{
    CONFIDENCE_MIN, EscalationCause, EscalationTracker, INTERRUPTS_MAX, InterruptCounter,
};
pub use liveness::{HEARTBEAT, RoleLiveness, SILENCE_MAX};
pub use motion::{
    DeferralReason, MotionDecider, MotionOutcome, MotionRuling, QUORUM, RoleVote, VoteCount,
};
pub use role::CouncilRole;

use crate::journal::command::Command;
use crate::journal::event::JournalRecord;

/// The messages that these records hold, in their order.
pub fn messages<'a>(
    records: impl IntoIterator<Item = &'a JournalRecord>,
) -> impl Iterator<Item = &'a Envelope> {
    let commands = records.into_iter().flat_map(|record| &record.commands);
    commands.filter_map(|command| match command {
        Command::Post { envelope } => Some(&**envelope),
        _ => None,
    })
}
