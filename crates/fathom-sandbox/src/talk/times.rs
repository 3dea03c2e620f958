//! When a cell is late, and what is done then.

use fathom_core::cell::CellErrorKind;
use tokio::select;
use tokio::time::Instant;

use super::{LOOK_EVERY, Live, THREADS_MAX, Talk, Talked};
use crate::clock;

/// Messages that are still heard when a cell's time is over: they may have come in time, and the host was held up.
const LATE_FRAMES: u32 = 16;

impl Talk<'_> {
    /// When the worker must have done what it is about.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let reads = self.live.outbox.deadline().filter(|_| self.paused());
        let works = self.watch.deadline();
        [reads, works, self.live.inbox.deadline()]
            .into_iter()
            .flatten()
            .min()
    }

    pub(super) async fn due(&mut self) -> Option<Talked> {
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

    fn look(&mut self) -> Option<Talked> {
        self.look = clock::now() + LOOK_EVERY;
        let load = self.live.worker.process.load()?;
        if load.threads > THREADS_MAX {
            return Some(self.crowded());
        }
        let before = self.computed?;
        (load.computed.saturating_sub(before) > self.time_max).then(|| self.timed_out())
    }

    async fn late(&mut self, now: Instant) -> Option<Talked> {
        if self.watch.deadline().is_some_and(|then| then <= now) {
            return self.overdue().await;
        }
        if self.live.inbox.deadline().is_some_and(|then| then <= now) {
            return Some(self.died("it did not end its message"));
        }
        Some(self.died("it does not read its answers"))
    }

    /// The time is over. What lies there already counts, once.
    async fn overdue(&mut self) -> Option<Talked> {
        let late = if std::mem::replace(&mut self.was_late, true) {
            0
        } else {
            LATE_FRAMES
        };
        for _ in 0..late {
            let room = self.room();
            let Live { worker, inbox, .. } = &mut *self.live;
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

    fn timed_out(&mut self) -> Talked {
        if self.has_strayed {
            return self.died("it asked something else than before");
        }
        let words = format!("it worked for more than {} ms", self.time_max.as_millis());
        self.broke(CellErrorKind::TimedOut, &words)
    }
}
