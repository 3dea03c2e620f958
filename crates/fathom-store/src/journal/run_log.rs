//! Logs: a run's way into the journal. Append now, learn later that it is durable.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use fathom_core::id::{Epoch, RunId};
use fathom_core::run::step::LogPosition;
use tokio::sync::watch;

use crate::error::StoreError;
use crate::journal::entry::JournalEntry;

/// Durable part of a run.
#[derive(Clone, Debug)]
pub enum CommitDurability {
    /// Every entry of the run up to this position.
    Upto(LogPosition),
    /// Every entry up to this position, and never one after it.
    Failed {
        /// The last position that is durable.
        upto: LogPosition,
        /// Error after which nothing is stored.
        reason: StoreError,
    },
}

impl CommitDurability {
    /// The last position that is durable.
    pub const fn upto(&self) -> LogPosition {
        match self {
            Self::Upto(upto) | Self::Failed { upto, .. } => *upto,
        }
    }

    /// The answer for a caller that waits for `position`; `None` while it is undecided.
    fn answer(&self, position: LogPosition) -> Option<Result<(), StoreError>> {
        match self {
            _ if position <= self.upto() => Some(Ok(())),
            Self::Upto(_) => None,
            Self::Failed { reason, .. } => Some(Err(reason.clone())),
        }
    }
}

/// State shared by a run's owner and the journal's writer.
pub struct LogState {
    run: RunId,
    epoch: Epoch,
    durability: watch::Sender<CommitDurability>,
}

impl fmt::Debug for LogState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogState")
            .field("run", &self.run)
            .field("epoch", &self.epoch)
            .field("durability", &*self.durability.borrow())
            .finish()
    }
}

impl LogState {
    fn new(run: RunId, epoch: Epoch) -> Self {
        let (durability, _) = watch::channel(CommitDurability::Upto(LogPosition::default()));
        Self {
            run,
            epoch,
            durability,
        }
    }

    pub fn run(&self) -> RunId {
        self.run
    }

    /// The owner that writes here.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Marks everything up to `position` as durable. No effect after a failure.
    pub fn acknowledge(&self, position: LogPosition) {
        self.durability
            .send_if_modified(|durability| match durability {
                CommitDurability::Upto(upto) if *upto < position => {
                    *upto = position;
                    true
                }
                CommitDurability::Upto(_) | CommitDurability::Failed { .. } => false,
            });
    }

    /// Marks the log as failed. The first reason stands.
    pub fn fail(&self, reason: &StoreError) {
        self.durability
            .send_if_modified(|durability| match durability {
                CommitDurability::Upto(upto) => {
                    *durability = CommitDurability::Failed {
                        upto: *upto,
                        reason: reason.clone(),
                    };
                    true
                }
                CommitDurability::Failed { .. } => false,
            });
    }

    /// The error after which nothing is stored, if there was one.
    pub fn failure(&self) -> Option<StoreError> {
        match &*self.durability.borrow() {
            CommitDurability::Upto(_) => None,
            CommitDurability::Failed { reason, .. } => Some(reason.clone()),
        }
    }
}

/// Promise to report the outcome of one entry to the run's owner. Dropped without a report, it reports a closed
/// journal, so that no one waits for a writer that is gone.
#[derive(Debug)]
pub struct CommitTicket {
    log: Arc<LogState>,
    position: LogPosition,
    is_answered: bool,
}

impl CommitTicket {
    /// A promise about the entry at `position`.
    pub fn new(log: Arc<LogState>, position: LogPosition) -> Self {
        Self {
            log,
            position,
            is_answered: false,
        }
    }

    /// The log the entry was appended to.
    pub fn log(&self) -> &Arc<LogState> {
        &self.log
    }

    /// The entry and all before it are on the disk.
    pub fn acknowledge(mut self) {
        self.is_answered = true;
        self.log.acknowledge(self.position);
    }

    /// The entry did not get there, and nothing after it will.
    pub fn fail(mut self, reason: &StoreError) {
        self.is_answered = true;
        self.log.fail(reason);
    }
}

// Also when the writer panics: an unanswered ticket would leave the run's owner waiting.
impl Drop for CommitTicket {
    fn drop(&mut self) {
        if !self.is_answered {
            self.log.fail(&StoreError::Closed);
        }
    }
}

/// Destination of a log's entries: a backend of the journal.
pub trait LogSink: Send + Sync {
    /// Puts an entry at the end of the queue; waits while the queue is full.
    fn enqueue(&self, log: &Arc<LogState>, entry: JournalEntry) -> Result<LogPosition, StoreError>;

    /// Stores what is queued without waiting for more.
    fn urge(&self) {}
}

/// The right to append to one run, and the knowledge of what is durable of it.
///
/// Clones share both. A failure (a newer owner, a full disk) ends the log: what was durable stays so, nothing
/// after it is ever acknowledged. Other runs go on, unless the journal as a whole failed.
#[derive(Clone)]
pub struct RunLog {
    state: Arc<LogState>,
    sink: Arc<dyn LogSink>,
}

impl fmt::Debug for RunLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.state.fmt(f)
    }
}

impl RunLog {
    /// A log of `run` for the owner `epoch`, into `sink`.
    pub fn new(run: RunId, epoch: Epoch, sink: Arc<dyn LogSink>) -> Self {
        Self {
            state: Arc::new(LogState::new(run, epoch)),
            sink,
        }
    }

    pub fn run(&self) -> RunId {
        self.state.run
    }

    /// The owner that writes here.
    pub fn epoch(&self) -> Epoch {
        self.state.epoch
    }

    /// Queues an entry and returns at once, unless the queue is full. Positions grow with each append to the
    /// journal, whatever the run, and entries become durable in this order.
    pub fn append(&self, entry: JournalEntry) -> Result<LogPosition, StoreError> {
        // Here too, so that the owner of a failed log hears of it now and not after the next commit.
        if let Some(reason) = self.state.failure() {
            return Err(reason);
        }
        if entry.epoch != self.state.epoch {
            return Err(StoreError::Fenced {
                run: self.state.run,
                held: entry.epoch,
                current: self.state.epoch,
            });
        }
        self.sink.enqueue(&self.state, entry)
    }

    /// Has the appended entries stored at once, because someone waits for them.
    pub fn urge(&self) {
        self.sink.urge();
    }

    /// Durability, now and whenever it changes. Call [`urge`](Self::urge) before waiting for a change.
    pub fn durability(&self) -> watch::Receiver<CommitDurability> {
        self.state.durability.subscribe()
    }

    /// Waits until the entry at `position` is on the disk, or never will be.
    pub async fn durable(&self, position: LogPosition) -> Result<(), StoreError> {
        let mut durability = self.durability();
        loop {
            if let Some(answer) = durability.borrow_and_update().answer(position) {
                return answer;
            }
            // Entries gather for a few milliseconds as long as no one waits for them.
            self.urge();
            // The sender lives in `self`, so it cannot be gone.
            durability.changed().await.map_err(|_| StoreError::Closed)?;
        }
    }

    /// Waits as [`durable`](Self::durable) does, and blocks the thread meanwhile.
    pub fn wait_durable(&self, position: LogPosition) -> Result<(), StoreError> {
        block_on(self.durable(position))
    }
}

struct UnparkWriter(Thread);

impl Wake for UnparkWriter {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future that only waits for another thread.
// The one future here is woken by the writer thread, so no runtime is needed, and callers may be inside of one.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(UnparkWriter(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}
