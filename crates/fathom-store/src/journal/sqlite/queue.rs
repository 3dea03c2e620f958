//! The bounded queue in front of the writer.

use std::collections::VecDeque;
use std::sync::mpsc::{self, SyncSender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fathom_core::run::step::LogPosition;
use rusqlite::Connection;

use crate::error::StoreError;
use crate::journal::entry::JournalEntry;
use crate::journal::run_log::{CommitTicket, LogSink, LogState};

/// Maximum number of queued items.
const QUEUED_MAX: usize = 4096;
/// Maximum number of queued bytes. A single entry may be larger if it is alone.
const QUEUED_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Maximum number of items in one commit.
const BATCH_MAX: usize = 1024;
/// Bytes after which a commit takes no more items.
const BATCH_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Time for which entries gather while no caller waits for them. A crash may cost this much of what was already
/// heard.
const GATHER: Duration = Duration::from_millis(5);

/// An item of work for the writer.
pub(super) enum WriterWork {
    /// An entry, and the reason if it was not stored although the commit succeeded.
    Append {
        ticket: CommitTicket,
        entry: Box<JournalEntry>,
        refused: Option<StoreError>,
    },
    /// A change that a caller waits for.
    Call(Box<dyn WriterCall>),
}

impl WriterWork {
    fn size_bytes(&self) -> usize {
        match self {
            Self::Append { entry, .. } => entry.size_bytes(),
            Self::Call(_) => 0,
        }
    }
}

/// An item that the writer runs within a transaction and answers after it.
pub(super) trait WriterCall: Send {
    /// Makes the change and keeps the answer.
    fn run(&mut self, connection: &Connection) -> Result<(), StoreError>;

    /// Delivers the answer, once the outcome of the commit is known.
    fn answer(self: Box<Self>, committed: Result<(), StoreError>);
}

struct WriterChange<T, F> {
    make: Option<F>,
    outcome: Result<T, StoreError>,
    reply: SyncSender<Result<T, StoreError>>,
}

impl<T, F> WriterCall for WriterChange<T, F>
where
    T: Send,
    F: FnOnce(&Connection) -> Result<T, StoreError> + Send,
{
    fn run(&mut self, connection: &Connection) -> Result<(), StoreError> {
        if let Some(make) = self.make.take() {
            self.outcome = make(connection);
        }
        self.outcome.as_ref().map(|_| ()).map_err(Clone::clone)
    }

    fn answer(self: Box<Self>, committed: Result<(), StoreError>) {
        let outcome = committed.and(self.outcome);
        // Nobody listens any more only when the asking thread is gone.
        self.reply.send(outcome).ok();
    }
}

/// Work in the order in which it will reach the disk.
#[derive(Default)]
pub(super) struct WriterQueue {
    waiting: Mutex<WaitingWork>,
    has_work: Condvar,
    has_room: Condvar,
}

#[derive(Default)]
struct WaitingWork {
    work: VecDeque<WriterWork>,
    bytes: usize,
    last_position: LogPosition,
    /// A caller waits for the queued items.
    is_urgent: bool,
    is_closed: bool,
}

impl WaitingWork {
    /// True if more may come before the next commit.
    fn gathers(&self) -> bool {
        !self.is_urgent
            && !self.is_closed
            && self.work.len() < BATCH_MAX
            && self.bytes < BATCH_BYTES_MAX
    }

    fn has_room_for(&self, bytes: usize) -> bool {
        // Alone, anything fits: an entry above the limit must not wait for ever.
        self.work.is_empty()
            || (self.work.len() < QUEUED_MAX && self.bytes + bytes <= QUEUED_BYTES_MAX)
    }
}

impl WriterQueue {
    /// Has the writer make a change, and waits until it is durable.
    pub(super) fn call<T: Send + 'static>(
        &self,
        change: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = mpsc::sync_channel(1);
        let call = WriterChange {
            make: Some(change),
            outcome: Err(StoreError::Closed),
            reply,
        };
        self.push(0, |_| WriterWork::Call(Box::new(call)))?;
        answer.recv().map_err(|_| StoreError::Closed)?
    }

    /// Positions are given under the lock, so their order is the order of the queue.
    fn push(
        &self,
        bytes: usize,
        work: impl FnOnce(&mut WaitingWork) -> WriterWork,
    ) -> Result<(), StoreError> {
        let mut waiting = self.lock();
        while !waiting.is_closed && !waiting.has_room_for(bytes) {
            waiting = self
                .has_room
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if waiting.is_closed {
            return Err(StoreError::Closed);
        }
        let work = work(&mut waiting);
        // Its caller is blocked until it is answered.
        waiting.is_urgent |= matches!(work, WriterWork::Call(_));
        waiting.work.push_back(work);
        waiting.bytes += bytes;
        // A writer that gathers is not woken for each entry.
        let wakes = waiting.work.len() == 1 || !waiting.gathers();
        // Released before waking the writer, which would otherwise run into it at once.
        drop(waiting);
        if wakes {
            self.has_work.notify_one();
        }
        Ok(())
    }

    /// Queued items, up to the size of one commit. `None` once the queue is closed and empty.
    pub(super) fn take_batch(&self) -> Option<Vec<WriterWork>> {
        let mut waiting = self.lock();
        while waiting.work.is_empty() {
            if waiting.is_closed {
                return None;
            }
            waiting = self
                .has_work
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
        }
        let (mut waiting, _) = self
            .has_work
            .wait_timeout_while(waiting, GATHER, |waiting| waiting.gathers())
            .unwrap_or_else(PoisonError::into_inner);
        let mut batch = Vec::new();
        let mut bytes = 0;
        while batch.len() < BATCH_MAX
            && bytes < BATCH_BYTES_MAX
            && let Some(work) = waiting.work.pop_front()
        {
            bytes += work.size_bytes();
            batch.push(work);
        }
        waiting.bytes -= bytes;
        // Leftovers did not fit into this commit, so their callers still wait.
        waiting.is_urgent &= !waiting.work.is_empty();
        drop(waiting);
        self.has_room.notify_all();
        Some(batch)
    }

    /// Accepts no more items. Queued ones are still processed.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.has_work.notify_all();
        self.has_room.notify_all();
    }

    /// Drops the queued items, which tells their callers.
    pub(super) fn abandon(&self) {
        self.close();
        let work = std::mem::take(&mut self.lock().work);
        // Not under the lock: dropped tickets wake the owners of their runs.
        drop(work);
    }

    fn lock(&self) -> MutexGuard<'_, WaitingWork> {
        // No panic can leave the queue half changed: each change is a few assignments.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LogSink for WriterQueue {
    fn enqueue(&self, log: &Arc<LogState>, entry: JournalEntry) -> Result<LogPosition, StoreError> {
        let mut position = LogPosition::default();
        let entry = Box::new(entry);
        self.push(entry.size_bytes(), |waiting| {
            waiting.last_position.0 += 1;
            position = waiting.last_position;
            WriterWork::Append {
                ticket: CommitTicket::new(log.clone(), position),
                entry,
                refused: None,
            }
        })?;
        Ok(position)
    }

    fn urge(&self) {
        let mut waiting = self.lock();
        if waiting.work.is_empty() || waiting.is_urgent {
            return;
        }
        waiting.is_urgent = true;
        drop(waiting);
        self.has_work.notify_one();
    }
}
