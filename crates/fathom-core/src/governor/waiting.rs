//! Predicates on what an episode waits for.

use super::Governor;
use crate::budget::ledger::BudgetAccounts;
use crate::governor::pending::PendingAsk;

impl<L: BudgetAccounts> Governor<L> {
    /// True if all that is outstanding waits for a person, or is held behind what does.
    pub(crate) fn waits_for_person(&self) -> bool {
        self.waits_only_for(PendingAsk::waits_for_person)
    }

    /// True if all that is outstanding waits for a person or for a child, or is held behind what does.
    pub(crate) fn is_blocked(&self) -> bool {
        self.waits_only_for(|p| p.waits_for_person() || matches!(p, PendingAsk::Child { .. }))
    }

    /// True if a call waits until the way to its model is repaired.
    pub(crate) fn is_stalled(&self) -> bool {
        let mut pending = self.pending.values();
        pending.any(|pending| matches!(pending, PendingAsk::Stalled { .. }))
    }

    /// True if nothing is outstanding that could ever move the program on.
    pub(crate) fn is_idle(&self) -> bool {
        self.pending.is_empty() && self.wake.is_none() && !self.released
    }

    /// True once nothing is out any more and every report stands in the journal.
    pub(crate) fn is_settled(&self) -> bool {
        self.pending.is_empty() && self.unsaid.is_empty()
    }

    fn waits_only_for(&self, awaited: impl Fn(&PendingAsk) -> bool) -> bool {
        let pending = &self.pending;
        // In this order: the first call of a thousand that are out settles it.
        pending.values().all(|p| awaited(p) || p.is_held()) && pending.values().any(&awaited)
    }
}
