//! Deadlines of a cell, and what happens at them.

use std::time::Duration;

use fathom_core::sandbox::CellErrorKind;
use tokio::select;
use tokio::time::Instant;

use super::{CellDialogue, DialogueEnd, LOOK_EVERY, LiveWorker, THREADS_MAX};
use crate::clock;

/// Messages that are still heard when a cell's time is over: they may have come in time, and the host was held up.
const LATE_FRAMES: u32 = 16;

/// Computing time between two looks that needs no turn: what it takes to read answers and to ask on.
const BESIDE_MAX: Duration = Duration::from_millis(100);

impl CellDialogue<'_> {
    /// The worker's deadline for its current task.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let goes = self.paused() && self.halted.is_none();
        let reads = self.live.outbox.deadline().filter(|_| goes);
        let works = self.watch.deadline();
        [reads, works, self.live.inbox.deadline()]
            .into_iter()
            .flatten()
            .min()
    }

    pub(super) async fn due(&mut self) -> Option<DialogueEnd> {
        let now = clock::now();
        if self.deadline().is_some_and(|then| then <= now) {
            return self.late(now).await;
        }
        if self.look <= now {
            return self.look();
        }
        if self.offer.take_if(|then| *then <= now).is_some() {
            self.live.place.offer();
        }
        None
    }

    fn look(&mut self) -> Option<DialogueEnd> {
        self.look = clock::now() + LOOK_EVERY;
        let load = self.live.worker.process.load()?;
        if load.threads > THREADS_MAX {
            return Some(self.crowded());
        }
        let before = self.computed?;
        let worked = load.computed.saturating_sub(self.looked.max(before));
        self.looked = load.computed;
        // What it had computed before it asked had a turn of its own.
        let waited = std::mem::replace(&mut self.pauses_looked, self.pauses) == self.pauses;
        if self.paused() {
            self.ration(waited && worked > BESIDE_MAX);
        }
        (load.computed.saturating_sub(before) > self.time_max).then(|| self.timed_out())
    }

    /// A cell that computes beside its open questions takes a turn like all others, or stands still until there is one or an
    /// answer comes.
    fn ration(&mut self, computes: bool) {
        // Who waits for it has it first.
        self.permit = None;
        if !computes && self.halted.is_none() {
            return;
        }
        self.permit = self.shared.turn_now();
        let LiveWorker { inbox, outbox, .. } = &*self.live;
        if self.permit.is_some() {
            self.wake();
        } else if self.halted.is_none() && inbox.deadline().is_none() && outbox.is_empty() {
            // What is on its way comes to its end first: others may wait for the room of a large message.
            self.live.worker.process.halt();
            self.live.inbox.rest();
            self.halted = Some(clock::now());
        }
    }

    /// Lets a process go on that was made to stand still.
    pub(super) fn wake(&mut self) {
        if let Some(since) = self.halted.take() {
            self.live.inbox.rested(clock::now() - since);
            self.live.worker.process.go_on();
        }
    }

    async fn late(&mut self, now: Instant) -> Option<DialogueEnd> {
        if self.watch.deadline().is_some_and(|then| then <= now) {
            return self.overdue().await;
        }
        if self.live.inbox.deadline().is_some_and(|then| then <= now) {
            return Some(self.died("it did not end its message"));
        }
        Some(self.died("it does not read its answers"))
    }

    /// The time is over. What lies there already counts, once.
    async fn overdue(&mut self) -> Option<DialogueEnd> {
        let late = if std::mem::replace(&mut self.was_late, true) {
            0
        } else {
            LATE_FRAMES
        };
        for _ in 0..late {
            let room = self.room();
            let LiveWorker { worker, inbox, .. } = &mut *self.live;
            let talked = select! {
                biased;
                filled = inbox.fill(&worker.stream, room) => match filled {
                    Ok(filled) => self.filled(filled).await,
                    Err(lost) => Some(self.died(lost.words())),
                },
                () = std::future::ready(()) => break,
            };
            if talked.is_some() || self.watch.is_stopped() {
                return talked;
            }
        }
        Some(self.timed_out())
    }

    fn timed_out(&mut self) -> DialogueEnd {
        if self.has_strayed {
            return self.died("it asked something else than before");
        }
        let words = format!("it worked for more than {} ms", self.time_max.as_millis());
        self.broke(CellErrorKind::TimedOut, &words)
    }
}
