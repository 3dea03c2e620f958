//! The end of a loop: the session history is written first, then the verdict follows.

use serde_json::{Value, json};

use super::config::SessionEntry;
use super::context::cut;
pub(super) use super::program::{AskBatch, HISTORY, LoopEnd, LoopState, PhasesProgram};
use crate::conclusion::Conclusion;
use fathom_core::contract::stop::StopReason;
use fathom_core::domain::session::SessionSpeaker;
use fathom_core::domain::{DomainAccess, DomainRequest};
use fathom_core::episode::program::{Ask, Program};
use fathom_core::episode::result::{EpisodeStatus, ProgramVerdict};
use fathom_core::text::Text;

impl PhasesProgram {
    /// Has the session keep what was said, and ends after that.
    pub(super) fn end(&mut self, end: LoopEnd, asks: &mut AskBatch) {
        let Some(session) = &self.params.session else {
            return self.finish(end, asks);
        };
        let request = json!({ "op": "append", "session": session, "entries": self.entries() });
        let ask = asks.push(Ask::Domain(DomainRequest::new(
            HISTORY,
            DomainAccess::Write,
            request.to_string(),
        )));
        // The verdict waits for the history, so that a failed write stands among its warnings.
        self.waiting = LoopState::Storing(ask, end);
    }

    /// The session entries to append.
    fn entries(&self) -> Vec<SessionEntry> {
        let entry = |who, text: &str| SessionEntry {
            who,
            text: text.to_owned(),
        };
        let mut entries = vec![entry(SessionSpeaker::User, &self.goal)];
        entries.extend(
            self.notes
                .iter()
                .map(|note| entry(SessionSpeaker::Note, note)),
        );
        if !self.report.commands.is_empty() {
            let log = serde_json::to_string(&self.report.commands).unwrap_or_default();
            entries.push(entry(SessionSpeaker::Commands, &log));
        }
        if !self.best().is_empty() {
            entries.push(entry(SessionSpeaker::Reply, self.best()));
        }
        entries
    }

    /// Takes in the answer of the history.
    pub(super) fn on_stored(&mut self, answer: &Text) {
        let answer: Value = serde_json::from_str(answer.as_str()).unwrap_or_default();
        let fault = ["fault", "error"]
            .iter()
            .find_map(|name| answer.get(*name).filter(|fault| !fault.is_null()));
        if let Some(fault) = fault {
            let message = fault.get("message").unwrap_or(fault);
            let message = message
                .as_str()
                .map_or_else(|| message.to_string(), str::to_owned);
            let message = cut(&message, 200);
            self.warn(&format!("the session was not kept: {message}"));
        }
    }

    /// Says what came of it.
    pub(super) fn finish(&mut self, end: LoopEnd, asks: &mut AskBatch) {
        let answer = self.partial();
        let LoopEnd {
            mut status,
            mut stop,
            mut said,
        } = end;
        if status == EpisodeStatus::Ok && answer.is_none() {
            status = EpisodeStatus::NeedsReview;
            stop = StopReason::NoNewInformation;
            said = format!("{said}, and no phase had anything to say");
        }
        let conclusion = Conclusion {
            status,
            stop,
            goal: &self.goal,
            answer,
            said: &said,
            work: format!(
                "{} iterations, {} commands",
                self.iteration,
                self.report.commands.len()
            ),
            decisions: &[],
            notes: self.report.warnings.clone(),
        };
        asks.push(Ask::Finish(Box::new(ProgramVerdict {
            report: self.report(),
            ..conclusion.verdict()
        })));
    }
}
