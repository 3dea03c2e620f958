//! The inbox of a driver: what happened to an episode, on its way into the journal and the fold.

use std::collections::VecDeque;

use fathom_core::id::{AskId, EpisodeId};
use fathom_core::journal::event::{EventKind, ModelCallOutcome};
use fathom_core::run::step::HostStep;
use fathom_store::AnswerPlace;

use crate::driver::RunDriver;
use crate::driver::model_call::CallKey;

/// Maximum number of events that wait for the driver.
pub(crate) const INBOX_MAX: usize = 1024;

/// An event of an episode, before it has a place in the journal.
pub(crate) struct DriverEvent {
    pub(crate) episode: EpisodeId,
    pub(crate) kind: EventKind,
}

impl RunDriver {
    pub(crate) fn deliver(&mut self, input: DriverEvent, steps: &mut VecDeque<HostStep>) {
        let DriverEvent { episode, kind } = input;
        if let EventKind::ModelReplied {
            ask,
            attempt,
            outcome,
            ..
        } = &kind
        {
            if let ModelCallOutcome::Replied(_) = outcome {
                self.keep(&episode, *ask, outcome);
            }
            let key = CallKey {
                episode: episode.clone(),
                ask: *ask,
                attempt: *attempt,
            };
            // Its task has ended; the calls that stay in this table are aborted at the end of the run.
            self.state.calls.remove(&key);
        }
        // Before the fold: its steps may start children at once, and they look for what they were handed.
        self.cells.note(&episode, &kind);
        let at = self.clock.now();
        steps.extend(self.run.deliver(&mut self.recorder, at, episode, kind));
        self.state.has_news = true;
    }

    pub(super) fn tick(&mut self, steps: &mut VecDeque<HostStep>) {
        let now = self.clock.now();
        while let Some((at, episode)) = self.state.timers.pop_first() {
            // Timers sort by time, so none after this one is due.
            if at > now {
                self.state.timers.insert((at, episode));
                break;
            }
            let kind = EventKind::Tick;
            self.deliver(DriverEvent { episode, kind }, steps);
        }
    }

    /// Makes the answer to a call known, when it was wanted.
    fn keep(&mut self, episode: &EpisodeId, ask: AskId, outcome: &ModelCallOutcome) {
        let wanted = self.state.wanted.remove(&(episode.clone(), ask));
        if let (Some(memory), Some(wanted)) = (&self.memory, wanted) {
            let place = AnswerPlace {
                run: self.id,
                episode: episode.clone(),
                ask,
            };
            memory.keep(wanted, place, outcome, self.clock.now());
        }
    }
}
