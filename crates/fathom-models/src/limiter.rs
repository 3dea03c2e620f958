//! How many calls may be in flight, in the order they asked, and not while a provider wants quiet.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

use crate::classify::RETRY_AFTER_MAX;
use crate::clock;
use crate::endpoint::EndpointId;

/// Calls in flight when the user does not say.
pub const IN_FLIGHT_DEFAULT: usize = 128;

/// A run's limit on calls in flight.
///
/// Calls start in the order in which they asked. After a provider asked to wait, no call to it starts before that
/// time is over; calls to other servers go past the waiting ones.
#[derive(Debug)]
pub struct Limiter {
    state: Mutex<State>,
    paused: Notify,
}

#[derive(Debug)]
struct State {
    free: usize,
    next_ticket: u64,
    waiting: VecDeque<Waiter>,
    pauses: BTreeMap<EndpointId, Instant>,
}

#[derive(Debug)]
struct Waiter {
    ticket: u64,
    endpoint: EndpointId,
    turn: oneshot::Sender<()>,
}

/// Leave for one call, given back when dropped.
#[derive(Debug)]
#[must_use = "the call is only counted while the permit is held"]
pub struct Permit<'a> {
    limiter: &'a Limiter,
}

impl Default for Limiter {
    fn default() -> Self {
        Self::new(IN_FLIGHT_DEFAULT)
    }
}

impl Limiter {
    /// A limit of `in_flight_max` calls, at least one.
    pub fn new(in_flight_max: usize) -> Self {
        Self {
            state: Mutex::new(State {
                free: in_flight_max.max(1),
                next_ticket: 0,
                waiting: VecDeque::new(),
                pauses: BTreeMap::new(),
            }),
            paused: Notify::new(),
        }
    }

    /// Waits for a place for a call to `endpoint`. Giving up the wait gives up the place in the queue.
    pub async fn acquire(&self, endpoint: &EndpointId) -> Permit<'_> {
        let (mut place, mut turn) = self.queue(endpoint);
        loop {
            let paused = self.paused.notified();
            tokio::pin!(paused);
            // From here on no pause goes unnoticed.
            paused.as_mut().enable();
            let resumes = self.lock().pauses.get(endpoint).copied();
            tokio::select! {
                biased;
                _ = &mut turn => break,
                () = paused => {}
                () = pass(resumes) => self.lock().dispatch(),
            }
        }
        place.taken = true;
        Permit { limiter: self }
    }

    /// Starts no call to `endpoint` for `span`, at most [`RETRY_AFTER_MAX`].
    pub fn pause(&self, endpoint: &EndpointId, span: Duration) {
        let until = clock::now() + span.min(RETRY_AFTER_MAX);
        let mut state = self.lock();
        let known = state.pauses.entry(endpoint.clone()).or_insert(until);
        *known = until.max(*known);
        drop(state);
        self.paused.notify_waiters();
    }

    fn queue(&self, endpoint: &EndpointId) -> (Place<'_>, oneshot::Receiver<()>) {
        let (turn, granted) = oneshot::channel();
        let mut state = self.lock();
        let ticket = state.next_ticket;
        state.next_ticket += 1;
        state.waiting.push_back(Waiter {
            ticket,
            endpoint: endpoint.clone(),
            turn,
        });
        state.dispatch();
        let place = Place {
            limiter: self,
            ticket,
            taken: false,
        };
        (place, granted)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn release(&self) {
        let mut state = self.lock();
        state.free += 1;
        state.dispatch();
    }
}

impl State {
    /// Gives free places to those who wait, first come first served, passing over servers that want quiet.
    fn dispatch(&mut self) {
        let now = clock::now();
        self.pauses.retain(|_, until| *until > now);
        while self.free > 0 {
            let pauses = &self.pauses;
            let ready = |waiter: &Waiter| !pauses.contains_key(&waiter.endpoint);
            let Some(next) = self.waiting.iter().position(ready) else {
                return;
            };
            // Nobody is there any more when the wait was given up at this very moment.
            if let Some(waiter) = self.waiting.remove(next)
                && waiter.turn.send(()).is_ok()
            {
                self.free -= 1;
            }
        }
    }
}

/// A place in the queue.
struct Place<'a> {
    limiter: &'a Limiter,
    ticket: u64,
    taken: bool,
}

impl Drop for Place<'_> {
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

impl Drop for Permit<'_> {
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
