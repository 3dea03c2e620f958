//! Outcomes of model calls: an answer, another try, or a wait until the way to the model is repaired.

use super::{Episode, EpisodePhase};
use crate::budget::ledger::BudgetAccounts;
use crate::contract::stop::ErrorClass;
use crate::episode::program::{OnOutage, ProgramInput};
use crate::governor::{AnsweredCall, SettledCall};
use crate::id::AskId;
use crate::journal::command::Command;
use crate::journal::event::ModelCallOutcome;
use crate::model::failure::{FailureKind, ModelFailure};
use crate::model::retry;
use crate::unit::Timestamp;

impl<L: BudgetAccounts> Episode<L> {
    pub(super) fn on_replied(
        &mut self,
        (id, attempt): (AskId, u16),
        outcome: &ModelCallOutcome,
        jitter: u16,
        at: Timestamp,
        out: &mut Vec<Command>,
    ) {
        let Some(settled) = self.governor.settle_call(id, attempt, outcome, out) else {
            return;
        };
        match (settled, outcome) {
            (SettledCall::Wanted(_), ModelCallOutcome::Replied(reply)) => {
                if self.governor.close_errand(id, Some(&reply.text), out) {
                    return;
                }
                self.failures = None;
                self.tell(ProgramInput::Reply { ask: id, reply }, at, out);
            }
            (SettledCall::Wanted(call), ModelCallOutcome::Failed(failure)) => {
                self.on_failed(id, *call, failure, jitter, at, out);
            }
            // Nobody wants it any more, so it is neither tried again nor an error.
            (SettledCall::GivenUp, outcome) => {
                if !self.governor.drop_errand(id) {
                    let input = match outcome {
                        ModelCallOutcome::Replied(reply) => ProgramInput::Reply { ask: id, reply },
                        ModelCallOutcome::Failed(failure) => {
                            ProgramInput::Failed { ask: id, failure }
                        }
                    };
                    self.tell(input, at, out);
                }
            }
        }
        self.governor.pump(out);
    }

    /// An earlier answer stands for a call: nothing is reserved, sent or spent.
    pub(super) fn on_recalled(&mut self, at: Timestamp, out: &mut Vec<Command>) {
        if let Some((ask, reply)) = self.governor.take_recalled() {
            let reply = &reply;
            self.tell(ProgramInput::Reply { ask, reply }, at, out);
            self.governor.pump(out);
        }
    }

    fn on_failed(
        &mut self,
        id: AskId,
        call: AnsweredCall,
        failure: &ModelFailure,
        jitter: u16,
        at: Timestamp,
        out: &mut Vec<Command>,
    ) {
        if !matches!(self.phase, EpisodePhase::Running) {
            return;
        }
        if let Some(pause) = retry::pause(failure, call.tries(), jitter) {
            self.governor.retry(call, at.plus(pause));
        } else if self.governor.close_errand(id, None, out) {
            // A field that one model could not shorten goes to the next rung, and its own call is not refused yet.
        } else if failure.kind.is_outage() && call.on_outage() == OnOutage::Wait {
            self.governor.stall(call, failure, out);
        } else if failure.kind == FailureKind::Cancelled
            || call.on_outage() == OnOutage::Tell
            || !self.count_failure(ErrorClass::Model(failure.kind), out)
        {
            self.tell(ProgramInput::Failed { ask: id, failure }, at, out);
        }
    }
}
