//! How programs with one answer end.

use crate::outcome::{Decision, HandoffTicket, NextAction, Status, Summary, Verdict, clip};
use crate::stop::StopReason;
use crate::text::Text;

/// The end of a program that worked towards one answer.
pub(super) struct Close<'a> {
    pub(super) status: Status,
    pub(super) stop: StopReason,
    pub(super) goal: &'a str,
    pub(super) answer: Option<Text>,
    /// Why it ended.
    pub(super) said: &'a str,
    /// What it took.
    pub(super) work: String,
    pub(super) decisions: &'a [Decision],
}

impl Close<'_> {
    /// The verdict; a person is asked to look where the answer needs it.
    pub(super) fn verdict(self) -> Verdict {
        let Self { said, work, .. } = self;
        let head = self.answer.as_ref().map_or_else(
            || "no answer".to_owned(),
            |answer| format!("answer: {}", clip(answer.as_str(), 120)),
        );
        let goal = clip(self.goal, 120);
        let next_actions = match self.status {
            Status::NeedsReview => vec![NextAction::Handoff(HandoffTicket {
                tried: Text::new(format!("{work} on: {goal}")),
                known: Text::new(head.clone()),
                asked: Text::new(format!("look at the answer; the episode stopped: {said}")),
                deadline: None,
            })],
            Status::Ok | Status::Failed => Vec::new(),
        };
        let decided = self.decisions.iter();
        Verdict {
            status: self.status,
            stop: self.stop,
            answer: self.answer,
            report: None,
            summary: Summary::new(
                [format!("asked: {goal}"), head, format!("{said}; {work}")],
                decided.map(|decision| decision.what.as_str().to_owned()),
            ),
            artifacts: Vec::new(),
            decisions: self.decisions.to_vec(),
            verification_needed: false,
            next_actions,
        }
    }
}
