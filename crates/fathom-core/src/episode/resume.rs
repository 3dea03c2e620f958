//! Resuming an episode that was refolded from its journal.

use super::Episode;
use crate::budget::ledger::BudgetAccounts;
use crate::episode::program::ProgramInput;
use crate::journal::command::Command;
use crate::model::failure::{FailureKind, ModelFailure};
use crate::unit::Timestamp;

impl<L: BudgetAccounts> Episode<L> {
    /// A new owner: what may have been spent unseen counts as spent, what is outstanding is said again.
    pub(super) fn resume(&mut self, at: Timestamp, out: &mut Vec<Command>) {
        // What was given up stays given up, and its program hears the end of it.
        for ask in self.governor.resume(out) {
            let failure = &ModelFailure::sent(FailureKind::Cancelled, "given up before a restart");
            self.tell(ProgramInput::Failed { ask, failure }, at, out);
        }
    }
}
