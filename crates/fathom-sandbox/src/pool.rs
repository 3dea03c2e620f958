//! Session processes are few. A session that waits for something keeps its process only while nobody else needs one; it comes
//! back by replay.
//!
//! Who has waited for a while offers the place: giving it up at once would cost a replay for each short wait.
//!
//! Nothing can deadlock here: a process that does not wait computes, and the watchdog ends that; one that waits is offered
//! and given up.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, oneshot};

/// Delay before a waiting session offers its place.
pub(crate) const REST: Duration = Duration::from_millis(50);

/// The places for session processes.
#[derive(Debug)]
pub(crate) struct SessionPool {
    places: usize,
    state: Mutex<PoolState>,
}

#[derive(Debug, Default)]
struct PoolState {
    taken: usize,
    /// Offered places in their order, with what tells their holders to leave.
    offered: BTreeMap<u64, Arc<Notify>>,
    clock: u64,
    /// Places whose holders were told to leave and have not yet.
    leaving: usize,
    waiting: VecDeque<oneshot::Sender<PoolSlot>>,
}

impl PoolState {
    /// Tells as many holders to leave as are needed for those who wait.
    fn call_in(&mut self) {
        self.waiting.retain(|waiting| !waiting.is_closed());
        while self.leaving < self.waiting.len()
            && let Some((_, leave)) = self.offered.pop_first()
        {
            self.leaving += 1;
            leave.notify_one();
        }
    }
}

impl SessionPool {
    pub(crate) fn new(places: usize) -> Arc<Self> {
        Arc::new(Self {
            places: places.max(1),
            state: Mutex::default(),
        })
    }

    fn state(&self) -> MutexGuard<'_, PoolState> {
        // A panic in one session must not end all others.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a process, in the order of asking.
    pub(crate) async fn place(self: &Arc<Self>) -> PoolSlot {
        loop {
            let wait = {
                let mut state = self.state();
                if state.taken < self.places {
                    state.taken += 1;
                    return PoolSlot::new(self);
                }
                let (give, wait) = oneshot::channel();
                state.waiting.push_back(give);
                state.call_in();
                wait
            };
            if let Ok(place) = wait.await {
                return place;
            }
        }
    }

    /// Hands a place on to the first who still waits.
    fn hand_on(self: &Arc<Self>) {
        let mut state = self.state();
        while let Some(waiting) = state.waiting.pop_front() {
            let place = PoolSlot::new(self);
            match waiting.send(place) {
                Ok(()) => return,
                // It must not be dropped under the lock, and is not a place given back.
                Err(place) => place.forget(),
            }
        }
        state.taken -= 1;
    }
}

/// A place in the pool; dropping it gives it back.
#[derive(Debug)]
pub(crate) struct PoolSlot {
    pool: Option<Arc<SessionPool>>,
    leave: Arc<Notify>,
    standing: SlotState,
}

#[derive(Clone, Copy, Debug)]
enum SlotState {
    Kept,
    Offered(u64),
}

impl PoolSlot {
    fn new(pool: &Arc<SessionPool>) -> Self {
        Self {
            pool: Some(Arc::clone(pool)),
            leave: Arc::default(),
            standing: SlotState::Kept,
        }
    }

    fn forget(mut self) {
        self.pool = None;
    }

    /// From now on the place may be wanted back.
    pub(crate) fn offer(&mut self) {
        let (Some(pool), SlotState::Kept) = (&self.pool, self.standing) else {
            return;
        };
        let mut state = pool.state();
        state.clock += 1;
        let since = state.clock;
        state.offered.insert(since, Arc::clone(&self.leave));
        self.standing = SlotState::Offered(since);
        state.call_in();
    }

    /// Keeps the place from now on. False when it is wanted back already: then it must be dropped.
    #[must_use]
    pub(crate) fn keep(&mut self) -> bool {
        let (Some(pool), SlotState::Offered(since)) = (&self.pool, self.standing) else {
            return true;
        };
        let kept = pool.state().offered.remove(&since).is_some();
        if kept {
            self.standing = SlotState::Kept;
        }
        kept
    }

    /// Comes when the place is wanted back.
    pub(crate) async fn wanted(&self) {
        self.leave.notified().await;
    }
}

impl Drop for PoolSlot {
    fn drop(&mut self) {
        let Some(pool) = self.pool.take() else {
            return;
        };
        if let SlotState::Offered(since) = self.standing {
            let mut state = pool.state();
            if state.offered.remove(&since).is_none() {
                state.leaving -= 1;
            }
        }
        pool.hand_on();
    }
}

#[cfg(test)]
#[path = "pool_tests.rs"]
mod tests;
