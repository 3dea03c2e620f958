//! The end of an episode: the verdict stands, what is in flight is given up and settled, then it finishes.

use super::{Episode, EpisodePhase};
use crate::budget::ledger::BudgetAccounts;
use crate::contract::stop::{ErrorClass, StopReason};
use crate::episode::result::{
    EpisodeResult, EpisodeStatus, HandoffTicket, NextAction, ProgramVerdict, ResultSummary, clip,
};
use crate::journal::command::Command;
use crate::text::Text;

impl<L: BudgetAccounts> Episode<L> {
    /// Stops the episode for a reason of the governor's, keeping the best answer so far.
    pub(super) fn stop(&mut self, stop: StopReason, out: &mut Vec<Command>) {
        // The first reason to stop stands.
        if !matches!(self.phase, EpisodePhase::Running) {
            return;
        }
        let answer = self.program.partial();
        let status = match stop {
            StopReason::BudgetExhausted { .. }
            | StopReason::NoNewInformation
            | StopReason::DepthExceeded
            | StopReason::ReviewFailed
            | StopReason::Undecided => EpisodeStatus::NeedsReview,
            StopReason::Success
            | StopReason::RepeatedFailure { .. }
            | StopReason::Failure { .. }
            | StopReason::PolicyDeny { .. }
            | StopReason::TokenBudget { .. }
            | StopReason::KillSwitch { .. }
            | StopReason::Cancelled => EpisodeStatus::Failed,
        };
        let goal = clip(
            self.governor.started().goal.as_str(),
            ResultSummary::LINE_CHARS_MAX,
        );
        let known = answer.as_ref().map_or_else(
            || "no answer yet".to_owned(),
            |answer| format!("so far: {}", clip(answer.as_str(), 120)),
        );
        let summary = ResultSummary::new(
            [
                format!("goal: {goal}"),
                format!("stopped: {stop}"),
                known.clone(),
            ],
            [],
        );
        let next_actions = match status {
            EpisodeStatus::NeedsReview => vec![NextAction::Handoff(HandoffTicket {
                tried: Text::new(format!("goal: {goal}")),
                known: Text::new(known),
                asked: Text::new(format!(
                    "decide whether to go on; the episode stopped: {stop}"
                )),
                deadline: None,
            })],
            EpisodeStatus::Ok | EpisodeStatus::Failed => Vec::new(),
        };
        let verdict = ProgramVerdict {
            status,
            stop,
            answer,
            report: self.program.report(),
            summary,
            artifacts: Vec::new(),
            decisions: Vec::new(),
            verification_needed: self.governor.needs_verification(),
            next_actions,
        };
        self.wind_down(Box::new(verdict), out);
    }

    pub(super) fn wind_down(&mut self, verdict: Box<ProgramVerdict>, out: &mut Vec<Command>) {
        self.phase = EpisodePhase::WindingDown(verdict);
        self.governor.wind_down();
        self.governor.give_up_all(out);
    }

    /// After every event: finishes once nothing is out any more, notices a program that asks for nothing,
    /// and lets the clock stand still while only a person can move things.
    pub(super) fn rest(&mut self, out: &mut Vec<Command>) {
        if matches!(self.phase, EpisodePhase::Running) && self.governor.is_idle() {
            // A program that could do nothing more past the closing mark did not fail: it hands off.
            let stop = match self.governor.closing() {
                Some(dimension) => StopReason::BudgetExhausted { dimension },
                None => StopReason::Failure {
                    class: ErrorClass::Idle,
                },
            };
            self.stop(stop, out);
        }
        if matches!(self.phase, EpisodePhase::WindingDown(_)) && self.governor.is_settled() {
            let over = std::mem::replace(&mut self.phase, EpisodePhase::Finished);
            if let EpisodePhase::WindingDown(verdict) = over {
                let result = Box::new(self.result(*verdict));
                out.push(Command::Finish { result });
            }
            return;
        }
        // Last, since only now it is known what is still awaited. Time in which only a person can act does not count.
        self.governor.pause_for_people(out);
    }

    pub(super) fn result(&mut self, verdict: ProgramVerdict) -> EpisodeResult {
        let mut next_actions = verdict.next_actions;
        // The program does not know of these: the governor refused or lost them on its behalf.
        next_actions.append(&mut self.governor.take_escalated());
        EpisodeResult {
            status: verdict.status,
            stop_reason: verdict.stop,
            summary: verdict.summary,
            answer: verdict.answer,
            report: verdict.report,
            artifacts_created: verdict.artifacts,
            decisions: verdict.decisions,
            verification_needed: verdict.verification_needed || self.governor.needs_verification(),
            next_actions,
            sources: self.governor.sources(),
            budget: self.budget(),
            depth_reached: self.depth_reached,
            position: self.position,
        }
    }
}
