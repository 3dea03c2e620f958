//! The auditor: books kept from the journal's records alone, to hold against the ledger's.

use std::collections::BTreeMap;

use fathom_core::budget::amounts::Amounts;
use fathom_core::budget::ledger::BudgetAccounts;
use fathom_core::id::{AskId, EpisodeId};
use fathom_core::journal::event::{EventKind, JournalRecord};
use fathom_core::run::step::LogPosition;

use super::audit_ledger::{AuditLedger, OpenCall};
use super::violation::InvariantViolation;

/// The books of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Auditor {
    pub(super) books: BTreeMap<EpisodeId, AuditLedger>,
}

impl Auditor {
    /// Takes in a record as it goes to the log.
    pub(super) fn take(
        &mut self,
        episode: &EpisodeId,
        record: &JournalRecord,
        position: LogPosition,
    ) -> Result<(), InvariantViolation> {
        let kind = &record.event.kind;
        let overran = match kind {
            EventKind::ChildFinished { child, .. } => {
                self.books.get(child).is_some_and(|child| child.has_overrun)
            }
            _ => false,
        };
        let books = self.books.entry(episode.clone()).or_default();
        books.has_overrun |= overran;
        let taken = books.take(record, position);
        taken.map_err(|violation| InvariantViolation {
            detail: format!("{episode} {}: {}", record.seq, violation.detail),
            ..violation
        })
    }

    /// Holds the ledger of an episode against the journal.
    pub(super) fn agrees(
        &self,
        episode: &EpisodeId,
        accounts: &impl BudgetAccounts,
    ) -> Result<(), InvariantViolation> {
        let Some(books) = self.books.get(episode) else {
            return Ok(());
        };
        books
            .agrees(accounts)
            .map_err(|violation| InvariantViolation {
                detail: format!("{episode}: {}", violation.detail),
                ..violation
            })
    }

    pub(super) fn call(&self, episode: &EpisodeId, ask: AskId) -> Option<OpenCall> {
        self.books.get(episode)?.calls.get(&ask).copied()
    }

    /// True if a lease that reaches `drawn` was written at or before `durable`.
    pub(super) fn is_leased(
        &self,
        episode: &EpisodeId,
        drawn: Amounts,
        durable: LogPosition,
    ) -> bool {
        self.books.get(episode).is_some_and(|books| {
            let leases = books.leases.iter();
            leases
                .filter(|(_, position)| *position <= durable)
                .any(|(upto, _)| drawn.exceeds(upto).is_none())
        })
    }
}
