//! Verdict of programs with one answer.

use fathom_core::contract::stop::StopReason;
use fathom_core::episode::result::{
    Decision, EpisodeStatus, HandoffTicket, NextAction, ProgramVerdict, ResultSummary, clip,
};
use fathom_core::text::Text;

/// The end of a program that worked towards one answer.
pub(super) struct Conclusion<'a> {
    pub(super) status: EpisodeStatus,
    pub(super) stop: StopReason,
    pub(super) goal: &'a str,
    pub(super) answer: Option<Text>,
    /// Reason of the end, in words.
    pub(super) said: &'a str,
    /// Work done, in words.
    pub(super) work: String,
    pub(super) decisions: &'a [Decision],
    /// Lines of the summary after the decisions.
    pub(super) notes: Vec<String>,
}

impl Conclusion<'_> {
    /// The verdict; a person is asked to look where the answer needs it.
    pub(super) fn verdict(self) -> ProgramVerdict {
        let Self { said, work, .. } = self;
        let head = self.answer.as_ref().map_or_else(
            || "no answer".to_owned(),
            |answer| format!("answer: {}", clip(answer.as_str(), 120)),
        );
        let goal = clip(self.goal, 120);
        let next_actions = match self.status {
            // Only here does a person have something to decide: a success needs no one, and a failure names its
            // cause.
            EpisodeStatus::NeedsReview => vec![NextAction::Handoff(HandoffTicket {
                tried: Text::new(format!("{work} on: {goal}")),
                known: Text::new(head.clone()),
                asked: Text::new(format!("look at the answer; the episode stopped: {said}")),
                deadline: None,
            })],
            EpisodeStatus::Ok | EpisodeStatus::Failed => Vec::new(),
        };
        let decided = self.decisions.iter();
        ProgramVerdict {
            status: self.status,
            stop: self.stop,
            answer: self.answer,
            // Programs with a report fill it in over this verdict.
            report: None,
            summary: ResultSummary::new(
                [format!("asked: {goal}"), head, format!("{said}; {work}")],
                decided
                    .map(|decision| decision.what.as_str().to_owned())
                    .chain(self.notes),
            ),
            artifacts: Vec::new(),
            decisions: self.decisions.to_vec(),
            verification_needed: false,
            next_actions,
        }
    }
}
