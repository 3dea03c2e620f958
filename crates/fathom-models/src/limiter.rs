//! Limit on concurrent calls, first come first served, with pauses for rate-limited servers.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

use crate::clock;
use crate::http::classify_failure::RETRY_AFTER_MAX;
use crate::http::endpoint::EndpointId;

/// Default number of concurrent calls.
pub const IN_FLIGHT_DEFAULT: usize = 128;

/// A run's limit on concurrent calls.
///
/// Calls start in the order in which they were requested. After a provider asked for a delay, no call to it
/// starts before that time; calls to other servers overtake the waiting ones.
#[derive(Debug)]
pub struct CallLimiter {
    state: Mutex<LimiterState>,
    paused: Notify,
}

#[derive(Debug)]
struct LimiterState {
    free: usize,
    next_ticket: u64,
    waiting: VecDeque<LimiterWaiter>,
    pauses: BTreeMap<EndpointId, Instant>,
}

#[derive(Debug)]
struct LimiterWaiter {
    ticket: u64,
    endpoint: EndpointId,
    turn: oneshot::Sender<()>,
}

/// Permission for one call, returned when dropped.
#[derive(Debug)]
#[must_use = "the call is only counted while the permit is held"]
pub struct CallPermit<'a> {
    limiter: &'a CallLimiter,
}

impl Default for CallLimiter {
    fn default() -> Self {
        Self::new(IN_FLIGHT_DEFAULT)
    }
}

impl CallLimiter {
    /// A limit of `in_flight_max` calls, at least one.
    pub fn new(in_flight_max: usize) -> Self {
        Self {
            state: Mutex::new(LimiterState {
                free: in_flight_max.max(1),
                next_ticket: 0,
                waiting: VecDeque::new(),
                pauses: BTreeMap::new(),
            }),
            paused: Notify::new(),
        }
    }

    /// Waits for a place for a call to `endpoint`. Dropping the future gives up the place in the queue.
    pub async fn acquire(&self, endpoint: &EndpointId) -> CallPermit<'_> {
        let (mut place, mut turn) = self.queue(endpoint);
        loop {
            let paused = self.paused.notified();
            tokio::pin!(paused);
            // From here on no pause is missed.
            paused.as_mut().enable();
            let resumes = self.lock().pauses.get(endpoint).copied();
            tokio::select! {
                // A granted turn must win over a pause that starts in the same moment, or it would be lost.
                biased;
                _ = &mut turn => break,
                () = paused => {}
                () = pass(resumes) => self.lock().dispatch(),
            }
        }
        place.taken = true;
        CallPermit { limiter: self }
    }

    /// Starts no call to `endpoint` for `span`, at most [`RETRY_AFTER_MAX`].
    pub fn pause(&self, endpoint: &EndpointId, span: Duration) {
        let until = clock::now() + span.min(RETRY_AFTER_MAX);
        let mut state = self.lock();
        // `max`: a later, shorter delay must not cut a longer one; it may answer a call that was sent earlier.
        let known = state.pauses.entry(endpoint.clone()).or_insert(until);
        *known = until.max(*known);
        drop(state);
        // Waiters compute their wake-up time from the pause, so they must look again.
        self.paused.notify_waiters();
    }

    fn queue(&self, endpoint: &EndpointId) -> (QueuePlace<'_>, oneshot::Receiver<()>) {
        let (turn, granted) = oneshot::channel();
        let mut state = self.lock();
        let ticket = state.next_ticket;
        state.next_ticket += 1;
        state.waiting.push_back(LimiterWaiter {
            ticket,
            endpoint: endpoint.clone(),
            turn,
        });
        state.dispatch();
        let place = QueuePlace {
            limiter: self,
            ticket,
            taken: false,
        };
        (place, granted)
    }

    fn lock(&self) -> MutexGuard<'_, LimiterState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn release(&self) {
        let mut state = self.lock();
        // Before dispatching, so that the place goes to the first waiter and not to a newcomer.
        state.free += 1;
        state.dispatch();
    }
}

impl LimiterState {
    /// Grants free places in order, skipping rate-limited servers.
    fn dispatch(&mut self) {
        let now = clock::now();
        self.pauses.retain(|_, until| *until > now);
        while self.free > 0 {
            let pauses = &self.pauses;
            let ready = |waiter: &LimiterWaiter| !pauses.contains_key(&waiter.endpoint);
            let Some(next) = self.waiting.iter().position(ready) else {
                return;
            };
            // The receiver is gone if the wait was given up at this very moment.
            if let Some(waiter) = self.waiting.remove(next)
                && waiter.turn.send(()).is_ok()
            {
                self.free -= 1;
            }
        }
    }
}

/// A place in the queue.
struct QueuePlace<'a> {
    limiter: &'a CallLimiter,
    ticket: u64,
    taken: bool,
}

impl Drop for QueuePlace<'_> {
    fn drop(&mut self) {
        if self.taken {
            return;
        }
        let mut state = self.limiter.lock();
        let queued = state
            .waiting
            .iter()
            .position(|waiter| waiter.ticket == self.ticket);
        if let Some(index) = queued {
            state.waiting.remove(index);
        } else {
            // It was granted and never used.
            drop(state);
            self.limiter.release();
        }
    }
}

impl Drop for CallPermit<'_> {
    fn drop(&mut self) {
        self.limiter.release();
    }
}

async fn pass(moment: Option<Instant>) {
    match moment {
        Some(moment) => clock::wait_until(moment).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
#[path = "limiter_tests.rs"]
mod tests;
