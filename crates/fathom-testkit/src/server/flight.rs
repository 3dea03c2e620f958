//! The server's memory: which requests came, how each ended, and how many were answered at once.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use super::Witness;
use super::wire::Seen;

/// Whether requests are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Retention {
    /// All of them, for tests.
    #[default]
    Keep,
    /// None, for load.
    Forget,
}

/// How far a request got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is being answered.
    Open,
    /// The answer, or the scripted fault, was written in full.
    Written,
    /// The client went away first.
    ClientGone,
}

/// A request and how it ended.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The request.
    pub seen: Arc<Seen>,
    /// How it ended.
    pub outcome: Outcome,
}

pub(super) struct Flight {
    retention: Retention,
    witness: Option<Witness>,
    connections: AtomicUsize,
    arrivals: AtomicU64,
    now: AtomicUsize,
    most: AtomicUsize,
    log: Mutex<Vec<Entry>>,
    changed: Notify,
}

impl Flight {
    pub(super) fn new(retention: Retention, witness: Option<Witness>) -> Self {
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
    pub(super) fn take_off(self: &Arc<Self>, seen: &Arc<Seen>) -> Landing {
        if let Some(witness) = &self.witness {
            witness(seen);
        }
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        let place = match self.retention {
            Retention::Forget => None,
            Retention::Keep => {
                let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
                log.push(Entry {
                    seen: Arc::clone(seen),
                    outcome: Outcome::Open,
                });
                Some(log.len() - 1)
            }
        };
        self.changed.notify_waiters();
        Landing {
            flight: Arc::clone(self),
            place,
            outcome: Outcome::ClientGone,
        }
    }

    pub(super) fn log(&self) -> Vec<Entry> {
        self.log
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(super) fn most(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }

    pub(super) async fn until(&self, wished: impl Fn(&[Entry]) -> bool) {
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
pub(super) struct Landing {
    flight: Arc<Flight>,
    place: Option<usize>,
    outcome: Outcome,
}

impl Landing {
    /// The answer was written in full.
    pub(super) fn written(mut self) {
        self.outcome = Outcome::Written;
    }
}

impl Drop for Landing {
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
