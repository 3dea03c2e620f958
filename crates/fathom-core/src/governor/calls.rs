//! Model calls: admission by window, closing rule, reservation and lease, and what becomes of an attempt.

use super::{AdmitOutcome, Governor};
use crate::budget::amounts::Amounts;
use crate::budget::ledger::{BudgetAccounts, crossed};
use crate::contract::stop::Refusal;
use crate::episode::program::OnOutage;
use crate::governor::pending::{Attempt, PackedCall, PendingAsk};
use crate::id::AskId;
use crate::journal::command::{Command, ExternalWait};
use crate::journal::event::ModelCallOutcome;
use crate::model::failure::{CallBilling, ModelFailure};
use crate::model::{ModelReply, RequestEstimate};
use crate::packet::{HeaderField, PacketMeta};
use crate::unit::Timestamp;

impl<L: BudgetAccounts> Governor<L> {
    pub(super) fn admit_call(
        &mut self,
        id: AskId,
        mut ask: PackedCall,
        measured: RequestEstimate,
        attempt: Attempt,
        not_before: Option<Timestamp>,
        out: &mut Vec<Command>,
    ) -> AdmitOutcome {
        let Some(cap) = fitting_window(&ask, &measured) else {
            return AdmitOutcome::Refused(Refusal::TokenBudget {
                field: HeaderField::Prompt,
                tokens: measured.input_tokens,
                limit: measured.window_tokens.unwrap_or_default(),
            });
        };
        let already_closing = self.closing();
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
            return AdmitOutcome::Held;
        }
        if let Some(dimension) = already_closing
            // The one closing call may be tried again under its own id.
            && (!ask.may_close || self.closing_call.is_some_and(|call| call != id))
        {
            return AdmitOutcome::Refused(Refusal::Closing { dimension });
        }
        if let Some(dimension) = too_much {
            match largest_cap(&measured, left, cap) {
                Some(smaller) if smaller >= least_cap(&ask) => {
                    cap = smaller;
                    need = measured.worst_case(cap);
                }
                _ => return AdmitOutcome::Refused(Refusal::Budget { dimension }),
            }
        }
        if let Err(dimension) = self.ledger.reserve(id, need) {
            return AdmitOutcome::Refused(Refusal::Budget { dimension });
        }
        if already_closing.is_some() {
            self.closing_call = Some(id);
        }
        let draw = self.ledger.draw(need);
        // Before the call itself: the call is held back until the lease that it draws on is durable.
        if let Some(upto) = draw.lease {
            out.push(Command::Lease { upto });
        }
        ask.request.output_tokens_max = cap;
        out.push(Command::CallModel {
            ask: id,
            attempt: attempt.number,
            model: ask.model,
            request: ask.request.clone(),
            packet: PacketMeta {
                retries: (attempt.number > 1).then(|| attempt.number - 1),
                ..ask.meta.clone()
            },
            reserved: need,
            drawn: draw.drawn,
            not_before,
        });
        self.pending.insert(
            id,
            PendingAsk::Calling {
                ask,
                measured,
                attempt,
                reserved: need,
            },
        );
        AdmitOutcome::Admitted
    }

    /// True if this attempt at a call may be on the wire.
    pub(crate) fn is_on_the_wire(&self, id: AskId, attempt: u16) -> bool {
        matches!(
            self.pending.get(id),
            Some(PendingAsk::Calling { attempt: current, .. } | PendingAsk::GivenUp { attempt: current, .. })
                if current.number == attempt
        )
    }

    /// Settles what an attempt at a call was billed. None if it is not on the wire.
    pub(crate) fn settle_call(
        &mut self,
        id: AskId,
        attempt: u16,
        outcome: &ModelCallOutcome,
        out: &mut Vec<Command>,
    ) -> Option<SettledCall> {
        if !self.is_on_the_wire(id, attempt) {
            return None;
        }
        match self.pending.remove(id)? {
            PendingAsk::Calling {
                ask,
                measured,
                attempt,
                reserved,
            } => {
                self.settle(id, billed(outcome, &measured, reserved), out);
                Some(SettledCall::Wanted(Box::new(AnsweredCall {
                    id,
                    ask,
                    measured,
                    attempt,
                })))
            }
            // Given up is not free: the reply may have been made, and is paid for.
            PendingAsk::GivenUp {
                measured, reserved, ..
            } => {
                self.settle(id, billed(outcome, &measured, reserved), out);
                Some(SettledCall::GivenUp)
            }
            _ => None,
        }
    }

    fn settle(&mut self, id: AskId, used: Amounts, out: &mut Vec<Command>) {
        for overrun in self.ledger.settle(id, used) {
            let report = Command::ReportOverrun {
                ask: id,
                dimension: overrun.dimension,
                reserved: overrun.reserved,
                used: overrun.used,
            };
            self.report(report, out);
        }
    }

    /// Queues another attempt at a call that failed.
    pub(crate) fn retry(&mut self, call: AnsweredCall, not_before: Timestamp) {
        let AnsweredCall {
            id,
            ask,
            measured,
            attempt,
        } = call;
        self.hold_call(id, ask, measured, attempt.again(), Some(not_before));
    }

    /// Sets a call aside until the run is resumed.
    pub(crate) fn stall(
        &mut self,
        call: AnsweredCall,
        failure: &ModelFailure,
        out: &mut Vec<Command>,
    ) {
        let AnsweredCall {
            id,
            ask,
            measured,
            attempt,
        } = call;
        out.push(Command::Await {
            awaited: ExternalWait::Repair {
                ask: id,
                failure: failure.clone(),
            },
        });
        let stalled = PendingAsk::Stalled {
            ask,
            measured,
            attempt,
        };
        self.pending.insert(id, stalled);
    }
}

/// A call that is off the wire and paid for.
pub(crate) enum SettledCall {
    Wanted(Box<AnsweredCall>),
    /// Nobody wants it any more.
    GivenUp,
}

/// A call that came back; it may be tried again.
pub(crate) struct AnsweredCall {
    id: AskId,
    ask: PackedCall,
    measured: RequestEstimate,
    attempt: Attempt,
}

impl AnsweredCall {
    pub(crate) const fn tries(&self) -> u16 {
        self.attempt.tries
    }

    pub(crate) const fn on_outage(&self) -> OnOutage {
        self.ask.on_outage
    }
}

/// The output cap that the model's window leaves, unless that is below the least of use.
fn fitting_window(ask: &PackedCall, measured: &RequestEstimate) -> Option<u32> {
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
fn largest_cap(measured: &RequestEstimate, left: Amounts, cap: u32) -> Option<u32> {
    let fits = |cap: u32| measured.worst_case(cap).exceeds(&left).is_none();
    if !fits(0) {
        return None;
    }
    // A binary search, since tokens and money bound the cap at once; `worst_case` grows with the cap, so what fits is a
    // range from zero.
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

/// The cost of a call: what was reported or counted, and its whole reservation if nobody can say.
pub fn billed(
    outcome: &ModelCallOutcome,
    measured: &RequestEstimate,
    reserved: Amounts,
) -> Amounts {
    let usage = match outcome {
        ModelCallOutcome::Replied(ModelReply { usage, .. })
        | ModelCallOutcome::Failed(ModelFailure {
            billing: CallBilling::Reported(usage),
            ..
        }) => usage,
        // A request that timed out may well have been billed. If it counted as free, retries could spend the limit
        // several times over.
        ModelCallOutcome::Failed(ModelFailure {
            billing: CallBilling::Perhaps,
            ..
        }) => return reserved,
        ModelCallOutcome::Failed(ModelFailure {
            billing: CallBilling::Nothing,
            ..
        }) => return Amounts::ZERO,
    };
    Amounts {
        tokens: usage.input_tokens.saturating_add(usage.output_tokens),
        calls: 1,
        money: measured.price.of(usage.input_tokens, usage.output_tokens),
        ..Amounts::ZERO
    }
}
