//! Requests to people and their decisions: the gateway's table, durable when it is written, as the store's is.

use std::collections::BTreeMap;

use fathom_core::effect::{ApprovalTerms, IdempotencyKey};
use fathom_core::unit::Timestamp;

use super::platform::SimSender;

/// State of an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SimApprovalState {
    Open,
    Granted,
    Denied,
    Used,
    Expired,
}

/// First or repeated request about an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ApprovalTurn {
    First,
    Later,
}

#[derive(Clone, Debug)]
struct ApprovalRow {
    key: IdempotencyKey,
    terms: ApprovalTerms,
    turn: ApprovalTurn,
    state: SimApprovalState,
}

/// Every approval that was asked for.
#[derive(Default)]
pub(super) struct SimApprovals {
    rows: BTreeMap<SimSender, ApprovalRow>,
}

impl SimApprovals {
    /// Asks people. What is asked already is not asked anew; only its terms are those of the last time.
    pub(super) fn open(&mut self, sender: &SimSender, key: IdempotencyKey, terms: &ApprovalTerms) {
        if let Some(row) = self.rows.get_mut(sender)
            && row.terms.binding == terms.binding
        {
            if row.state == SimApprovalState::Open {
                row.terms = terms.clone();
            }
            return;
        }
        let is_known = self.rows.values().any(|row| row.key == key);
        let row = ApprovalRow {
            key,
            terms: terms.clone(),
            turn: if is_known {
                ApprovalTurn::Later
            } else {
                ApprovalTurn::First
            },
            state: SimApprovalState::Open,
        };
        self.rows.insert(sender.clone(), row);
    }

    /// Terms of an open request.
    pub(super) fn asked(&self, sender: &SimSender) -> Option<(&ApprovalTerms, ApprovalTurn)> {
        let row = self.rows.get(sender)?;
        (row.state == SimApprovalState::Open).then_some((&row.terms, row.turn))
    }

    /// The key of the effect that was asked about.
    pub(super) fn key(&self, sender: &SimSender) -> Option<&IdempotencyKey> {
        Some(&self.rows.get(sender)?.key)
    }

    /// A person says yes or no, once.
    pub(super) fn decide(&mut self, sender: &SimSender, allow: bool, at: Timestamp) {
        if let Some(row) = self.rows.get_mut(sender)
            && row.state == SimApprovalState::Open
        {
            row.state = match allow {
                _ if at >= row.terms.expires => SimApprovalState::Expired,
                true => SimApprovalState::Granted,
                false => SimApprovalState::Denied,
            };
        }
    }

    /// Uses an approval up; gives the reason if the request has none.
    pub(super) fn obstacle(&mut self, sender: &SimSender) -> Option<&'static str> {
        let row = self.rows.get_mut(sender)?;
        match row.state {
            SimApprovalState::Granted => {
                row.state = SimApprovalState::Used;
                None
            }
            SimApprovalState::Open => Some("its approval is open"),
            SimApprovalState::Denied => Some("its approval is denied"),
            SimApprovalState::Used => Some("its approval is used"),
            SimApprovalState::Expired => Some("its approval is expired"),
        }
    }

    /// True if an approval of the same effect was used before.
    pub(super) fn was_used(&self, key: &IdempotencyKey) -> bool {
        let mut rows = self.rows.values();
        rows.any(|row| row.key == *key && row.state == SimApprovalState::Used)
    }
}
