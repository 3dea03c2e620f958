//! Coverage of a simulation: a test that covers nothing proves nothing.

use std::fmt;

use fathom_core::contract::stop::Refusal;
use fathom_core::council_bus::MessageType;
use fathom_core::journal::command::{Command, ExternalWait};
use fathom_core::journal::event::{EventKind, JournalRecord, Signal};

macro_rules! coverage {
    ($($(#[$doc:meta])* $field:ident),+ $(,)?) => {
        /// Number of times each event happened.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Coverage {
            $($(#[$doc])* pub $field: u64),+
        }

        impl Coverage {
            /// Every count with its name.
            pub fn counts(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($field), self.$field)),+]
            }

            /// Adds what another simulation saw.
            pub fn add(&mut self, other: &Self) {
                $(self.$field += other.$field;)+
            }
        }
    };
}

coverage! {
    /// Crashes of any kind.
    crashes,
    /// Crashes that took the power away.
    power_losses,
    /// Owners that only seemed dead.
    hangs,
    /// Writes of an older owner that were turned away.
    fenced,
    /// Runs that were taken up again.
    resumes,
    /// Runs that an owner released in good order.
    releases,
    /// Journals whose end was not whole.
    torn_tails,
    /// Syncs that failed.
    sync_failures,
    /// Writes that failed.
    write_failures,
    /// Reads that failed.
    read_failures,
    /// Disks that were full.
    full_disks,
    /// Leases counted as spent.
    forfeits,
    /// Calls that were sent.
    calls,
    /// Attempts after the first.
    retries,
    /// Calls given up.
    cancels,
    /// Asks that waited for a settlement.
    holds,
    /// Asks that were refused.
    refusals,
    /// Asks that were refused because the episode may only close.
    closings,
    /// Calls that used more than was reserved.
    overruns,
    /// Children.
    children,
    /// Effects that were attempted.
    attempts,
    /// Effects whose outcome was unknown.
    unknown_effects,
    /// Effects that arrived after their sender was dead.
    late_effects,
    /// Effects that the platform, when asked, said had happened.
    found_effects,
    /// Effects that the platform, when asked, knew nothing of.
    missing_effects,
    /// Effects that were sent again after they had certainly failed.
    effects_again,
    /// Effects that were sent on a person's yes.
    approvals,
    /// Effects that a person denied.
    denials,
    /// Effects without a decision in time.
    expiries,
    /// Words of people about effects.
    decisions,
    /// Kill switches.
    kills,
    /// Runs that waited for a model to come back.
    outages,
    /// Changes of the clock.
    clock_jumps,
    /// Blocks that were shown.
    blocks,
    /// Votes that a role cast.
    votes,
    /// Records that were appended.
    records,
    /// Runs that ended.
    finished,
}

impl Coverage {
    /// Counts what a record says.
    pub(super) fn see(&mut self, record: &JournalRecord) {
        self.records += 1;
        match &record.event.kind {
            EventKind::Resumed => self.resumes += 1,
            EventKind::Forfeited { .. } => self.forfeits += 1,
            EventKind::Overrun { .. } => self.overruns += 1,
            EventKind::Refused { reason, .. } => {
                self.refusals += 1;
                self.closings += u64::from(matches!(reason, Refusal::Closing { .. }));
            }
            EventKind::Signal(Signal::Decide { .. }) => self.decisions += 1,
            EventKind::Signal(Signal::Kill { .. }) => self.kills += 1,
            EventKind::Measured { ask, .. } => {
                let is_answered = record.commands.iter().any(|command| match command {
                    Command::CallModel { ask: called, .. } => called == ask,
                    Command::Refuse { ask: refused, .. } => refused == ask,
                    _ => false,
                });
                self.holds += u64::from(!is_answered);
            }
            _ => {}
        }
        for command in &record.commands {
            match command {
                Command::CallModel { attempt, .. } => self.retries += u64::from(*attempt > 1),
                Command::CancelCall { .. } => self.cancels += 1,
                Command::Spawn { .. } => self.children += 1,
                Command::Post { envelope } => {
                    self.votes += u64::from(envelope.kind == MessageType::Vote);
                }
                Command::Await {
                    awaited: ExternalWait::Repair { .. },
                } => self.outages += 1,
                _ => {}
            }
        }
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = self.counts().into_iter();
        let counts: Vec<String> = counts.map(|(name, n)| format!("{name} {n}")).collect();
        f.write_str(&counts.join(", "))
    }
}
