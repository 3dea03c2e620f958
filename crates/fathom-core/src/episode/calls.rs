//! What comes of a model call: an answer, another try, or a wait for someone who mends what is broken.

use super::{Episode, Phase, billed};
use crate::amounts::Amounts;
use crate::command::{Awaited, Command};
use crate::event::CallOutcome;
use crate::failure::{FailureKind, ModelFailure};
use crate::id::AskId;
use crate::ledger::Accounts;
use crate::model::Measured;
use crate::pending::{PackedCall, Pending, Try};
use crate::program::{Input, OnOutage};
use crate::retry;
use crate::stop::ErrorClass;
use crate::unit::Timestamp;

impl<L: Accounts> Episode<L> {
    pub(super) fn is_on_the_wire(&self, ask: AskId, attempt: u16) -> bool {
        matches!(
            self.governor.pending.get(&ask),
            Some(Pending::Calling { attempt: current, .. } | Pending::GivenUp { attempt: current, .. })
                if current.number == attempt
        )
    }

    pub(super) fn on_replied(
        &mut self,
        id: AskId,
        outcome: &CallOutcome,
        jitter: u16,
        at: Timestamp,
        out: &mut Vec<Command>,
    ) {
        match self.governor.pending.remove(id) {
            Some(Pending::Calling {
                ask,
                measured,
                attempt,
                reserved,
            }) => {
                self.settle_call(id, outcome, &measured, reserved, out);
                match outcome {
                    CallOutcome::Replied(reply) => {
                        if let Some(outer) = self.governor.scales.errands.remove(&id) {
                            return self.governor.on_shortened(outer, Some(&reply.text), out);
                        }
                        self.failures = None;
                        self.tell(Input::Reply { ask: id, reply }, at, out);
                    }
                    CallOutcome::Failed(failure) => {
                        let call = (ask, measured, attempt);
                        self.on_failed(id, call, failure, jitter, at, out);
                    }
                }
            }
            // Nobody wants it any more, so it is neither tried again nor an error.
            Some(Pending::GivenUp {
                measured, reserved, ..
            }) => {
                self.settle_call(id, outcome, &measured, reserved, out);
                let is_errand = self.governor.scales.errands.remove(&id).is_some();
                match outcome {
                    _ if is_errand => {}
                    CallOutcome::Replied(reply) => {
                        self.tell(Input::Reply { ask: id, reply }, at, out);
                    }
                    CallOutcome::Failed(failure) => {
                        self.tell(Input::Failed { ask: id, failure }, at, out);
                    }
                }
            }
            _ => {}
        }
        self.governor.pump(out);
    }

    /// An earlier answer stands for a call: nothing is reserved, sent or spent.
    pub(super) fn on_recalled(&mut self, at: Timestamp, out: &mut Vec<Command>) {
        if let Some((ask, reply)) = self.governor.recalled.take() {
            let reply = &reply;
            self.tell(Input::Reply { ask, reply }, at, out);
            self.governor.pump(out);
        }
    }

    fn settle_call(
        &mut self,
        id: AskId,
        outcome: &CallOutcome,
        measured: &Measured,
        reserved: Amounts,
        out: &mut Vec<Command>,
    ) {
        let used = billed(outcome, measured, reserved);
        for overrun in self.governor.ledger.settle(id, used) {
            let report = Command::ReportOverrun {
                ask: id,
                dimension: overrun.dimension,
                reserved: overrun.reserved,
                used: overrun.used,
            };
            self.governor.report(report, out);
        }
    }

    fn on_failed(
        &mut self,
        id: AskId,
        (ask, measured, attempt): (PackedCall, Measured, Try),
        failure: &ModelFailure,
        jitter: u16,
        at: Timestamp,
        out: &mut Vec<Command>,
    ) {
        if !matches!(self.phase, Phase::Running) {
            return;
        }
        if let Some(pause) = retry::pause(failure, attempt.tries, jitter) {
            let not_before = Some(at.plus(pause));
            self.governor
                .hold_call(id, ask, measured, attempt.again(), not_before);
        } else if let Some(outer) = self.governor.scales.errands.remove(&id) {
            self.governor.on_shortened(outer, None, out);
        } else if failure.kind.is_outage() && ask.on_outage == OnOutage::Wait {
            out.push(Command::Await {
                awaited: Awaited::Repair {
                    ask: id,
                    failure: failure.clone(),
                },
            });
            let stalled = Pending::Stalled {
                ask,
                measured,
                attempt,
            };
            self.governor.pending.insert(id, stalled);
        } else if failure.kind == FailureKind::Cancelled
            || ask.on_outage == OnOutage::Tell
            || !self.count_failure(ErrorClass::Model(failure.kind), out)
        {
            self.tell(Input::Failed { ask: id, failure }, at, out);
        }
    }
}
