//! The server's memory: which requests came, how each ended, and how many were answered at once.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use super::RequestWitness;
use super::wire::SeenRequest;

/// Retention of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogRetention {
    /// All of them, for tests.
    #[default]
    Keep,
    /// None, for load.
    Forget,
}

/// Last stage that a request reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestOutcome {
    /// It is being answered.
    Open,
    /// The answer, or the scripted fault, was written in full.
    Written,
    /// The client went away first.
    ClientGone,
}

/// A request and how it ended.
#[derive(Clone, Debug)]
pub struct RequestEntry {
    pub seen: Arc<SeenRequest>,
    pub outcome: RequestOutcome,
}

pub(super) struct RequestLog {
    retention: LogRetention,
    witness: Option<RequestWitness>,
    connections: AtomicUsize,
    arrivals: AtomicU64,
    now: AtomicUsize,
    most: AtomicUsize,
    log: Mutex<Vec<RequestEntry>>,
    changed: Notify,
}

impl RequestLog {
    pub(super) fn new(retention: LogRetention, witness: Option<RequestWitness>) -> Self {
        Self {
            retention,
            witness,
            connections: AtomicUsize::new(0),
            arrivals: AtomicU64::new(0),
            now: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
            log: Mutex::new(Vec::new()),
            changed: Notify::new(),
        }
    }

    pub(super) fn connected(&self) {
        self.connections.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// The next arrival's number, counted from zero.
    pub(super) fn number(&self) -> u64 {
        self.arrivals.fetch_add(1, Ordering::Relaxed)
    }

    /// Notes a request. Until the result is settled or dropped, it is in flight.
    pub(super) fn take_off(self: &Arc<Self>, seen: &Arc<SeenRequest>) -> InFlightRequest {
        if let Some(witness) = &self.witness {
            witness(seen);
        }
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        let place = match self.retention {
            LogRetention::Forget => None,
            LogRetention::Keep => {
                let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
                log.push(RequestEntry {
                    seen: Arc::clone(seen),
                    outcome: RequestOutcome::Open,
                });
                Some(log.len() - 1)
            }
        };
        self.changed.notify_waiters();
        InFlightRequest {
            flight: Arc::clone(self),
            place,
            outcome: RequestOutcome::ClientGone,
        }
    }

    pub(super) fn log(&self) -> Vec<RequestEntry> {
        self.log
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(super) fn most(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }

    pub(super) async fn until(&self, wished: impl Fn(&[RequestEntry]) -> bool) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if wished(&self.log()) {
                return;
            }
            changed.await;
        }
    }
}

/// A request in flight.
pub(super) struct InFlightRequest {
    flight: Arc<RequestLog>,
    place: Option<usize>,
    outcome: RequestOutcome,
}

impl InFlightRequest {
    /// The answer was written in full.
    pub(super) fn written(mut self) {
        self.outcome = RequestOutcome::Written;
    }
}

impl Drop for InFlightRequest {
    fn drop(&mut self) {
        self.flight.now.fetch_sub(1, Ordering::SeqCst);
        if let Some(place) = self.place {
            let mut log = self
                .flight
                .log
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            if let Some(entry) = log.get_mut(place) {
                entry.outcome = self.outcome;
            }
        }
        self.flight.changed.notify_waiters();
    }
}
