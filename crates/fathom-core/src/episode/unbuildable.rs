//! A stand-in for a program that could not be built.

use crate::outcome::{Status, Summary, Verdict};
use crate::program::{Ask, Input, Program, ProgramError, View};
use crate::stop::StopReason;
use crate::text::Text;

/// Stands in for a program that could not be made, so that even this ends with a result.
pub(super) struct Unbuildable(pub(super) ProgramError);

impl Program for Unbuildable {
    fn on(&mut self, _: Input<'_>, _: &View<'_>) -> Vec<Ask> {
        let rule = self.0.to_string();
        vec![Ask::Finish(Box::new(Verdict {
            status: Status::Failed,
            summary: Summary::new(
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
