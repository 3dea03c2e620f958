//! What people are asked, and what they said: the gateway's table, durable when it is written, as the store's is.

use std::collections::BTreeMap;

use fathom_core::effect::{ApprovalTerms, IdempotencyKey};
use fathom_core::unit::Timestamp;

use super::platform::Sender;

/// How an approval stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    Granted,
    Denied,
    Used,
    Expired,
}

/// Whether an effect is asked about for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    First,
    Later,
}

#[derive(Clone, Debug)]
struct Row {
    key: IdempotencyKey,
    terms: ApprovalTerms,
    turn: Turn,
    state: State,
}

/// Every approval that was asked for.
#[derive(Default)]
pub(super) struct Approvals {
    rows: BTreeMap<Sender, Row>,
}

impl Approvals {
    /// Asks people. What is asked already is not asked anew; only its terms are those of the last time.
    pub(super) fn open(&mut self, sender: &Sender, key: IdempotencyKey, terms: &ApprovalTerms) {
        if let Some(row) = self.rows.get_mut(sender)
            && row.terms.binding == terms.binding
        {
            if row.state == State::Open {
                row.terms = terms.clone();
            }
            return;
        }
        let is_known = self.rows.values().any(|row| row.key == key);
        let row = Row {
            key,
            terms: terms.clone(),
            turn: if is_known { Turn::Later } else { Turn::First },
            state: State::Open,
        };
        self.rows.insert(sender.clone(), row);
    }

    /// What is asked and not answered.
    pub(super) fn asked(&self, sender: &Sender) -> Option<(&ApprovalTerms, Turn)> {
        let row = self.rows.get(sender)?;
        (row.state == State::Open).then_some((&row.terms, row.turn))
    }

    /// The key of the effect that was asked about.
    pub(super) fn key(&self, sender: &Sender) -> Option<&IdempotencyKey> {
        Some(&self.rows.get(sender)?.key)
    }

    /// A person says yes or no, once.
    pub(super) fn decide(&mut self, sender: &Sender, allow: bool, at: Timestamp) {
        if let Some(row) = self.rows.get_mut(sender)
            && row.state == State::Open
        {
            row.state = match allow {
                _ if at >= row.terms.expires => State::Expired,
                true => State::Granted,
                false => State::Denied,
            };
        }
    }

    /// Uses a yes up. Says why not, when someone was asked and there is none.
    pub(super) fn obstacle(&mut self, sender: &Sender) -> Option<&'static str> {
        let row = self.rows.get_mut(sender)?;
        match row.state {
            State::Granted => {
                row.state = State::Used;
                None
            }
            State::Open => Some("its approval is open"),
            State::Denied => Some("its approval is denied"),
            State::Used => Some("its approval is used"),
            State::Expired => Some("its approval is expired"),
        }
    }

    /// Whether a yes to the same effect was used before.
    pub(super) fn was_used(&self, key: &IdempotencyKey) -> bool {
        let mut rows = self.rows.values();
        rows.any(|row| row.key == *key && row.state == State::Used)
    }
}
