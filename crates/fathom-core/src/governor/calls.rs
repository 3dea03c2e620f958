//! Admitting model calls: the window, the closing rule, the reservation and the lease.

use super::{Admission, Governor};
use crate::amounts::Amounts;
use crate::command::Command;
use crate::id::AskId;
use crate::ledger::{Accounts, closing, crossed};
use crate::model::Measured;
use crate::packet::{Field, Meta};
use crate::pending::{PackedCall, Pending, Try};
use crate::stop::Refusal;
use crate::unit::Timestamp;

impl<L: Accounts> Governor<L> {
    pub(super) fn admit_call(
        &mut self,
        id: AskId,
        mut ask: PackedCall,
        measured: Measured,
        attempt: Try,
        not_before: Option<Timestamp>,
        out: &mut Vec<Command>,
    ) -> Admission {
        let Some(cap) = fitting_window(&ask, &measured) else {
            return Admission::Refused(Refusal::TokenBudget {
                field: Field::Prompt,
                tokens: measured.input_tokens,
                limit: measured.window_tokens.unwrap_or_default(),
            });
        };
        let already_closing = closing(&self.ledger);
        let left = self.ledger.left();
        let mut cap = cap;
        let mut need = measured.worst_case(cap);
        let would_close = crossed(
            self.ledger.spent().plus(self.ledger.reserved()).plus(need),
            self.ledger.limit(),
        );
        let too_much = need.exceeds(&left);
        if (too_much.is_some() || would_close.is_some() || already_closing.is_some())
            && self.in_flight()
        {
            // What is in flight is counted at its worst; when it settles there may be room.
            return Admission::Held;
        }
        if let Some(dimension) = already_closing
            && (!ask.may_close || self.closing_call.is_some_and(|call| call != id))
        {
            return Admission::Refused(Refusal::Closing { dimension });
        }
        if let Some(dimension) = too_much {
            match largest_cap(&measured, left, cap) {
                Some(smaller) if smaller >= least_cap(&ask) => {
                    cap = smaller;
                    need = measured.worst_case(cap);
                }
                _ => return Admission::Refused(Refusal::Budget { dimension }),
            }
        }
        if let Err(dimension) = self.ledger.reserve(id, need) {
            return Admission::Refused(Refusal::Budget { dimension });
        }
        if already_closing.is_some() {
            self.closing_call = Some(id);
        }
        let draw = self.ledger.draw(need);
        if let Some(upto) = draw.lease {
            out.push(Command::Lease { upto });
        }
        ask.request.output_tokens_max = cap;
        out.push(Command::CallModel {
            ask: id,
            attempt: attempt.number,
            model: ask.model,
            request: ask.request.clone(),
            packet: Meta {
                retries: (attempt.number > 1).then(|| attempt.number - 1),
                ..ask.meta.clone()
            },
            reserved: need,
            drawn: draw.drawn,
            not_before,
        });
        self.pending.insert(
            id,
            Pending::Calling {
                ask,
                measured,
                attempt,
                reserved: need,
            },
        );
        Admission::Admitted
    }
}

/// The output cap that the model's window leaves, unless that is below the least of use.
fn fitting_window(ask: &PackedCall, measured: &Measured) -> Option<u32> {
    let wanted = ask.request.output_tokens_max;
    let Some(window) = measured.window_tokens else {
        return Some(wanted);
    };
    let room = u32::try_from(window.checked_sub(measured.input_tokens)?).unwrap_or(u32::MAX);
    let cap = wanted.min(room);
    (cap >= least_cap(ask).min(wanted)).then_some(cap)
}

/// The output cap below which a call is of no use; one that may say nothing never is.
fn least_cap(ask: &PackedCall) -> u32 {
    ask.output_tokens_min.max(1)
}

/// The largest output cap up to `cap` with which the call fits into `left`.
fn largest_cap(measured: &Measured, left: Amounts, cap: u32) -> Option<u32> {
    let fits = |cap: u32| measured.worst_case(cap).exceeds(&left).is_none();
    if !fits(0) {
        return None;
    }
    let (mut low, mut high) = (0, cap);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if fits(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    Some(low)
}
