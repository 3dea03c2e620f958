//! A stand-in for a program that could not be built.

use crate::contract::stop::StopReason;
use crate::episode::program::{Ask, Program, ProgramError, ProgramInput, ProgramView};
use crate::episode::result::{EpisodeStatus, ProgramVerdict, ResultSummary};
use crate::text::Text;

/// Stands in for a program that could not be made, so that even this ends with a result.
pub(super) struct FailedProgram(pub(super) ProgramError);

impl Program for FailedProgram {
    fn on(&mut self, _: ProgramInput<'_>, _: &ProgramView<'_>) -> Vec<Ask> {
        let rule = self.0.to_string();
        vec![Ask::Finish(Box::new(ProgramVerdict {
            status: EpisodeStatus::Failed,
            summary: ResultSummary::new(
                [
                    "the episode could not begin".into(),
                    rule.clone(),
                    "nothing was spent".into(),
                ],
                [],
            ),
            stop: StopReason::PolicyDeny { rule },
            answer: None,
            report: None,
            artifacts: Vec::new(),
            decisions: Vec::new(),
            verification_needed: false,
            next_actions: Vec::new(),
        }))]
    }

    fn partial(&self) -> Option<Text> {
        None
    }
}
