//! The journal in a `SQLite` file: one writer thread with group commit, any number of readers.

mod approvals;
mod columns;
mod queue;
mod read;
mod schema;
mod tables;
mod writer;

use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use fathom_core::effect::IdempotencyKey;
use fathom_core::id::{Digest, Epoch, RunId};
use fathom_core::journal::event::Signal;
use fathom_core::unit::Timestamp;
use rusqlite::{Connection, OpenFlags};

use self::queue::WriterQueue;
use self::read::ReaderPool;
use self::writer::JournalWriter;
use crate::approvals::{
    ApprovalFilter, ApprovalId, ApprovalRecord, ApprovalWord, DecideOutcome, UseOutcome,
};
use crate::error::StoreError;
use crate::journal::heads::HeadsWriter;
use crate::journal::idempotency::{
    ClaimOutcome, ClaimOwner, KeyClaim, KeyOverride, OverrideOutcome,
};
use crate::journal::run_list::{NewRun, RunInfo, RunQuery};
use crate::journal::run_log::RunLog;
use crate::journal::signals::{KillOrder, KillRecord, LiftOutcome, PostedSignal, SignalId};
use crate::journal::{Journal, JournalCursor, StoredRecord};
use crate::pins::{AcceptOutcome, PinOutcome, ToolPin, ToolSighting};
use crate::private_files;

/// Options for opening a journal.
#[derive(Debug, Default)]
pub struct SqliteOptions {
    /// Destination of signed heads; none by default.
    pub heads: Option<HeadsWriter>,
    /// Maximum number of 4 KiB pages of the file; beyond that the disk counts as full.
    pub pages_max: Option<u32>,
}

/// A journal in a file that several processes may share.
///
/// Dropping it stores what is queued, and then stops its thread.
pub struct SqliteJournal {
    queue: Arc<WriterQueue>,
    readers: ReaderPool,
    writer: Option<JoinHandle<()>>,
}

impl SqliteJournal {
    /// Opens the file, which is made when it is not there.
    pub fn open(path: &Path, options: SqliteOptions) -> Result<Self, StoreError> {
        let connection = open_for_writing(path, options.pages_max)?;
        let queue = Arc::new(WriterQueue::default());
        let writer = JournalWriter::new(connection, queue.clone(), options.heads);
        let writer = thread::Builder::new()
            .name("fathom-journal".to_owned())
            .spawn(move || writer.run())
            .map_err(|error| StoreError::io("start a writer for", path, error))?;
        Ok(Self {
            queue,
            readers: ReaderPool::new(path.to_owned()),
            writer: Some(writer),
        })
    }
}

/// Checks the format and creates the tables, one process at a time.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the store: here the journal is opened for writing"
)]
fn open_for_writing(path: &Path, pages_max: Option<u32>) -> Result<Connection, StoreError> {
    // A file of its own: closing a handle of the database's file would drop the locks that SQLite holds on it
    // here.
    let lock_path = path.with_extension("lock");
    let lock = private_files::open_or_create(&lock_path)?;
    lock.lock()
        .map_err(|error| StoreError::io("lock", &lock_path, error))?;
    // The database keeps the mode of the file it finds, also for the files beside it.
    private_files::create_if_missing(path)?;
    // One thread owns the connection, so SQLite need not lock it.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    schema::configure(&mut connection)?;
    if let Some(pages_max) = pages_max {
        connection.pragma_update(None, "max_page_count", pages_max)?;
    }
    schema::prepare(&mut connection)?;
    schema::configure_writer(&connection)?;
    Ok(connection)
}

impl Drop for SqliteJournal {
    fn drop(&mut self) {
        // The writer's connection is then the last one, and tidies the files up.
        self.readers.close();
        self.queue.close();
        if let Some(writer) = self.writer.take() {
            // A panic of the writer was told to everyone who waited for it.
            writer.join().ok();
        }
    }
}

impl Journal for SqliteJournal {
    fn create_run(&self, run: &NewRun) -> Result<Epoch, StoreError> {
        let run = run.clone();
        // Changes go through the writer like records do, so that their order among the records is fixed.
        self.queue.call(move |tx| tables::create_run(tx, &run))
    }

    fn acquire(&self, run: RunId) -> Result<Epoch, StoreError> {
        self.queue.call(move |tx| tables::acquire(tx, run))
    }

    fn open_log(&self, run: RunId, epoch: Epoch) -> Result<RunLog, StoreError> {
        // Only to fail early: the writer compares the epoch again with every entry.
        let current = self.readers.read(|db| tables::epoch(db, run))?;
        match current {
            None => Err(StoreError::UnknownRun { run }),
            Some(current) if current != epoch => Err(StoreError::Fenced {
                run,
                held: epoch,
                current,
            }),
            Some(_) => Ok(RunLog::new(run, epoch, self.queue.clone())),
        }
    }

    fn page(
        &self,
        run: RunId,
        after: JournalCursor,
        limit: usize,
    ) -> Result<Vec<StoredRecord>, StoreError> {
        self.readers.read(|db| read::page(db, run, after, limit))
    }

    fn run_info(&self, run: RunId) -> Result<Option<RunInfo>, StoreError> {
        self.readers.read(|db| read::run_info(db, run))
    }

    fn list_runs(&self, query: &RunQuery) -> Result<Vec<RunInfo>, StoreError> {
        self.readers.read(|db| read::list_runs(db, query))
    }

    fn run_ids(&self) -> Result<Vec<RunId>, StoreError> {
        self.readers.read(read::run_ids)
    }

    fn blob(&self, run: RunId, address: &Digest) -> Result<Option<Vec<u8>>, StoreError> {
        self.readers.read(|db| read::blob(db, run, address))
    }

    fn blob_count(&self) -> Result<u64, StoreError> {
        self.readers.read(read::blob_count)
    }

    fn post_signal(&self, run: RunId, signal: &Signal) -> Result<SignalId, StoreError> {
        let signal = signal.clone();
        self.queue
            .call(move |tx| tables::post_signal(tx, run, &signal))
    }

    fn signals(&self, run: RunId, after: SignalId) -> Result<Vec<PostedSignal>, StoreError> {
        self.readers.read(|db| read::signals(db, run, after))
    }

    fn drop_signals(&self, run: RunId, upto: SignalId) -> Result<(), StoreError> {
        self.queue
            .call(move |tx| tables::drop_signals(tx, run, upto))
    }

    fn set_kill(&self, order: &KillOrder) -> Result<(), StoreError> {
        let order = order.clone();
        self.queue.call(move |tx| approvals::set_kill(tx, &order))
    }

    fn lift_kill(&self, order: &KillOrder) -> Result<LiftOutcome, StoreError> {
        let order = order.clone();
        self.queue.call(move |tx| approvals::lift_kill(tx, &order))
    }

    fn kills(&self) -> Result<Vec<KillOrder>, StoreError> {
        self.readers.read(approvals::kills)
    }

    fn kill_record(&self) -> Result<Vec<KillRecord>, StoreError> {
        self.readers.read(approvals::kill_record)
    }

    fn claim(&self, claim: &KeyClaim) -> Result<ClaimOutcome, StoreError> {
        let claim = claim.clone();
        self.queue.call(move |tx| tables::claim(tx, &claim))
    }

    fn would_claim(&self, claim: &KeyClaim) -> Result<ClaimOutcome, StoreError> {
        let next = self.readers.read(|db| tables::next_claim(db, claim))?;
        Ok(next.err().unwrap_or(ClaimOutcome::Claimed))
    }

    fn release(&self, key: &IdempotencyKey, owner: &ClaimOwner) -> Result<(), StoreError> {
        let (key, owner) = (key.clone(), owner.clone());
        self.queue.call(move |tx| tables::release(tx, &key, &owner))
    }

    fn override_claim(&self, order: &KeyOverride) -> Result<OverrideOutcome, StoreError> {
        let order = order.clone();
        self.queue
            .call(move |tx| tables::override_claim(tx, &order))
    }

    fn claim_of(&self, key: &IdempotencyKey) -> Result<Option<KeyClaim>, StoreError> {
        self.readers.read(|db| read::claim_of(db, key))
    }

    fn overrides_of(&self, key: &IdempotencyKey) -> Result<Vec<KeyOverride>, StoreError> {
        self.readers.read(|db| approvals::overrides_of(db, key))
    }

    fn open_approval(&self, approval: &ApprovalRecord) -> Result<(), StoreError> {
        let approval = approval.clone();
        self.queue
            .call(move |tx| approvals::open_approval(tx, &approval))
    }

    fn decide_approval(
        &self,
        id: &ApprovalId,
        word: &ApprovalWord,
    ) -> Result<DecideOutcome, StoreError> {
        let (id, word) = (id.clone(), word.clone());
        self.queue
            .call(move |tx| approvals::decide_approval(tx, &id, &word))
    }

    fn approval_of(&self, owner: &ClaimOwner) -> Result<Option<ApprovalRecord>, StoreError> {
        self.readers.read(|db| approvals::approval_of(db, owner))
    }

    fn use_approval(&self, owner: &ClaimOwner, at: Timestamp) -> Result<UseOutcome, StoreError> {
        let owner = owner.clone();
        self.queue
            .call(move |tx| approvals::use_approval(tx, &owner, at))
    }

    fn withdraw_approvals(&self, run: RunId, at: Timestamp) -> Result<(), StoreError> {
        self.queue
            .call(move |tx| approvals::withdraw_approvals(tx, run, at))
    }

    fn approvals(&self, filter: ApprovalFilter) -> Result<Vec<ApprovalRecord>, StoreError> {
        self.readers.read(|db| approvals::approvals(db, filter))
    }

    fn pin(&self, seen: &ToolSighting) -> Result<PinOutcome, StoreError> {
        let seen = seen.clone();
        self.queue.call(move |tx| approvals::pin(tx, &seen))
    }

    fn accept_pin(&self, seen: &ToolSighting, by: &str) -> Result<AcceptOutcome, StoreError> {
        let (seen, by) = (seen.clone(), by.to_owned());
        self.queue
            .call(move |tx| approvals::accept_pin(tx, &seen, &by))
    }

    fn pins(&self, charter: &str) -> Result<Vec<ToolPin>, StoreError> {
        self.readers.read(|db| approvals::pins(db, charter))
    }
}
