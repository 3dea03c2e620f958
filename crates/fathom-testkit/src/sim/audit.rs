//! The auditor: books kept from the journal's records alone, to hold against the ledger's.

use std::collections::BTreeMap;

use fathom_core::amounts::Amounts;
use fathom_core::event::{EventKind, Record};
use fathom_core::id::{AskId, EpisodeId};
use fathom_core::ledger::Accounts;
use fathom_core::step::Position;

use super::books::{Books, OpenCall};
use super::violation::Violation;

/// The books of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Audit {
    pub(super) books: BTreeMap<EpisodeId, Books>,
}

impl Audit {
    /// Takes in a record as it goes to the log.
    pub(super) fn take(
        &mut self,
        episode: &EpisodeId,
        record: &Record,
        position: Position,
    ) -> Result<(), Violation> {
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
        taken.map_err(|violation| Violation {
            detail: format!("{episode} {}: {}", record.seq, violation.detail),
            ..violation
        })
    }

    /// Holds the ledger of an episode against the journal.
    pub(super) fn agrees(
        &self,
        episode: &EpisodeId,
        accounts: &impl Accounts,
    ) -> Result<(), Violation> {
        let Some(books) = self.books.get(episode) else {
            return Ok(());
        };
        books.agrees(accounts).map_err(|violation| Violation {
            detail: format!("{episode}: {}", violation.detail),
            ..violation
        })
    }

    pub(super) fn call(&self, episode: &EpisodeId, ask: AskId) -> Option<OpenCall> {
        self.books.get(episode)?.calls.get(&ask).copied()
    }

    /// Whether a lease that reaches `drawn` was written at or before `durable`.
    pub(super) fn is_leased(&self, episode: &EpisodeId, drawn: Amounts, durable: Position) -> bool {
        self.books.get(episode).is_some_and(|books| {
            let leases = books.leases.iter();
            leases
                .filter(|(_, position)| *position <= durable)
                .any(|(upto, _)| drawn.exceeds(upto).is_none())
        })
    }
}
