//! Asks that the host answers without spending budget: summaries, domains and cells.

use super::Governor;
use crate::budget::ledger::BudgetAccounts;
use crate::effect::EffectState;
use crate::governor::pending::PendingAsk;
use crate::id::AskId;
use crate::journal::command::Command;
use crate::text::Text;

impl<L: BudgetAccounts> Governor<L> {
    /// Takes in a summary that a call's own packet waits for. False if `id` is not such a call.
    pub(crate) fn take_summary(
        &mut self,
        id: AskId,
        text: &Text,
        round: u16,
        out: &mut Vec<Command>,
    ) -> bool {
        let Some(PendingAsk::Packing(_)) = self.pending.get(id) else {
            return false;
        };
        if self.awaits_summary(id, round) {
            self.on_shortened(id, Some(text), out);
        }
        true
    }

    /// Closes an ask that the host has answered. False if there is none.
    pub(crate) fn close_host_ask(&mut self, id: AskId) -> bool {
        let is_open = matches!(self.pending.get(id), Some(PendingAsk::Host(_)));
        if is_open {
            self.pending.remove(id);
        }
        is_open
    }

    /// Closes a question to a domain and marks what its answer may have brought in. False if there is none.
    pub(crate) fn close_domain_ask(&mut self, id: AskId, answer: &Text) -> bool {
        let Some(PendingAsk::Host(Command::Domain { request, .. })) = self.pending.get(id) else {
            return false;
        };
        let request = request.clone();
        self.saw_domain(&request, answer);
        self.pending.remove(id);
        true
    }

    /// True while a cell runs for this ask.
    pub(crate) fn has_cell(&self, id: AskId) -> bool {
        matches!(
            self.pending.get(id),
            Some(PendingAsk::Host(Command::RunCell { .. }))
        )
    }

    /// Closes a cell. False if there is none.
    pub(crate) fn close_cell(&mut self, id: AskId) -> bool {
        let is_open = self.has_cell(id);
        if is_open {
            self.pending.remove(id);
        }
        is_open
    }

    /// Closes an ask that was refused. True if its program is to be told.
    pub(crate) fn close_refused(&mut self, id: AskId, out: &mut Vec<Command>) -> bool {
        // The host may refuse what it was asked first: counting tokens and looking at an effect.
        let is_open = matches!(
            self.pending.get(id),
            Some(
                PendingAsk::Refusing(_)
                    | PendingAsk::Host(_)
                    | PendingAsk::Packing(_)
                    | PendingAsk::Effect {
                        state: EffectState::Preflight,
                        ..
                    }
            )
        );
        if !is_open {
            return false;
        }
        if self.is_shortening(id) {
            self.on_shortened(id, None, out);
            return false;
        }
        self.withdraw(id);
        !self.close_errand(id, None, out)
    }
}
