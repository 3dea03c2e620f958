//! The journal: an append-only store of records, and the small tables beside it.

pub mod chain;
pub(crate) mod entry;
pub mod heads;
pub(crate) mod idempotency;
pub(crate) mod memory;
pub(crate) mod run_list;
pub(crate) mod run_log;
pub mod seal;
pub(crate) mod signals;
pub(crate) mod sqlite;
pub mod verify;

use fathom_core::effect::IdempotencyKey;
use fathom_core::id::{Digest, EpisodeId, Epoch, RunId, Seq};
use fathom_core::journal::event::Signal;
use fathom_core::unit::Timestamp;

use crate::approvals::{
    ApprovalFilter, ApprovalId, ApprovalRecord, ApprovalWord, DecideOutcome, UseOutcome,
};
use crate::error::StoreError;
use crate::journal::idempotency::{
    ClaimOutcome, ClaimOwner, KeyClaim, KeyOverride, OverrideOutcome,
};
use crate::journal::run_list::{NewRun, RunInfo, RunQuery};
use crate::journal::run_log::RunLog;
use crate::journal::signals::{KillOrder, KillRecord, LiftOutcome, PostedSignal, SignalId};
use crate::pins::{AcceptOutcome, PinOutcome, ToolPin, ToolSighting};

/// A store of records. A method that changes something returns once the change is durable; only
/// [`RunLog::append`] returns earlier.
pub trait Journal: Send + Sync {
    /// Makes a run whose first owner is the caller.
    fn create_run(&self, run: &NewRun) -> Result<Epoch, StoreError>;

    /// Makes the caller the newest owner of a run. Earlier owners can no longer write.
    fn acquire(&self, run: RunId) -> Result<Epoch, StoreError>;

    /// Opens the log of a run for the owner `epoch`.
    fn open_log(&self, run: RunId, epoch: Epoch) -> Result<RunLog, StoreError>;

    /// Up to `limit` records of a run, in the order they were stored, that come after `after`. There may be fewer
    /// where they are large; there are none only at the end.
    fn page(
        &self,
        run: RunId,
        after: JournalCursor,
        limit: usize,
    ) -> Result<Vec<StoredRecord>, StoreError>;

    /// The run's entry in the list; `None` if the run does not exist.
    fn run_info(&self, run: RunId) -> Result<Option<RunInfo>, StoreError>;

    /// Runs, newest first.
    fn list_runs(&self, query: &RunQuery) -> Result<Vec<RunInfo>, StoreError>;

    /// Every run that has a record or a line in the list, for the verifier.
    fn run_ids(&self) -> Result<Vec<RunId>, StoreError>;

    /// A sealed text of a run.
    fn blob(&self, run: RunId, address: &Digest) -> Result<Option<Vec<u8>>, StoreError>;

    /// Number of sealed texts.
    fn blob_count(&self) -> Result<u64, StoreError>;

    /// Leaves a signal for the owner of a run.
    fn post_signal(&self, run: RunId, signal: &Signal) -> Result<SignalId, StoreError>;

    /// Unsettled signals of a run after `after`. Cheap enough to call twenty times a second.
    fn signals(&self, run: RunId, after: SignalId) -> Result<Vec<PostedSignal>, StoreError>;

    /// Removes signals up to `upto` that no record will take in.
    fn drop_signals(&self, run: RunId, upto: SignalId) -> Result<(), StoreError>;

    /// Activates the kill switch for a scope. If it is active already, the first order stands.
    fn set_kill(&self, order: &KillOrder) -> Result<(), StoreError>;

    /// Lifts the kill switch of exactly this scope.
    fn lift_kill(&self, order: &KillOrder) -> Result<LiftOutcome, StoreError>;

    /// Scopes with an active kill switch.
    fn kills(&self) -> Result<Vec<KillOrder>, StoreError>;

    /// History of the kill switch, newest last.
    fn kill_record(&self) -> Result<Vec<KillRecord>, StoreError>;

    /// Claims the right to send under a key.
    fn claim(&self, claim: &KeyClaim) -> Result<ClaimOutcome, StoreError>;

    /// Outcome that a claim would have now. Nothing is claimed.
    fn would_claim(&self, claim: &KeyClaim) -> Result<ClaimOutcome, StoreError>;

    /// Releases a key that was claimed for something that certainly was not sent. Only its holder can.
    fn release(&self, key: &IdempotencyKey, owner: &ClaimOwner) -> Result<(), StoreError>;

    /// Allows the next claim in spite of the holder. Earlier claims stay on record.
    fn override_claim(&self, order: &KeyOverride) -> Result<OverrideOutcome, StoreError>;

    /// The claim that holds a key, if any.
    fn claim_of(&self, key: &IdempotencyKey) -> Result<Option<KeyClaim>, StoreError>;

    /// Every override of a key, the oldest first; used ones stay.
    fn overrides_of(&self, key: &IdempotencyKey) -> Result<Vec<KeyOverride>, StoreError>;

    /// Opens an approval. The same request twice is one; a different request of the same ask replaces it.
    fn open_approval(&self, approval: &ApprovalRecord) -> Result<(), StoreError>;

    /// Records a person's decision on an open approval and signals the run, in one commit. A second decision is
    /// refused.
    fn decide_approval(
        &self,
        id: &ApprovalId,
        word: &ApprovalWord,
    ) -> Result<DecideOutcome, StoreError>;

    /// The latest approval of an ask.
    fn approval_of(&self, owner: &ClaimOwner) -> Result<Option<ApprovalRecord>, StoreError>;

    /// Consumes the granted approval of an ask, if a person was asked.
    fn use_approval(&self, owner: &ClaimOwner, at: Timestamp) -> Result<UseOutcome, StoreError>;

    /// Withdraws the undecided approvals of a run.
    fn withdraw_approvals(&self, run: RunId, at: Timestamp) -> Result<(), StoreError>;

    /// Approvals, oldest first.
    fn approvals(&self, filter: ApprovalFilter) -> Result<Vec<ApprovalRecord>, StoreError>;

    /// Compares a tool with its pin. The first sighting of a name becomes the pin.
    fn pin(&self, seen: &ToolSighting) -> Result<PinOutcome, StoreError>;

    /// Accepts a changed tool on behalf of a person.
    fn accept_pin(&self, seen: &ToolSighting, by: &str) -> Result<AcceptOutcome, StoreError>;

    /// Every tool of a charter that was seen, oldest first.
    fn pins(&self, charter: &str) -> Result<Vec<ToolPin>, StoreError>;
}

impl dyn Journal + '_ {
    /// All records of a run, in the order they were stored, read in pages.
    pub fn records(&self, run: RunId) -> RecordIter<'_> {
        RecordIter {
            journal: self,
            run,
            after: JournalCursor::default(),
            page: Vec::new().into_iter(),
            is_at_end: false,
        }
    }
}

/// Position of a stored record. Only its order has a meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JournalCursor(pub u64);

/// A record as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRecord {
    pub cursor: JournalCursor,
    /// The episode it belongs to.
    pub episode: EpisodeId,
    /// Its place in the chain, as the store found it; the record says it, too.
    pub seq: Seq,
    /// The encoded record.
    pub bytes: Vec<u8>,
    /// Its digest in the chain.
    pub hash: Digest,
}

/// Records of a run, one by one.
pub struct RecordIter<'a> {
    journal: &'a dyn Journal,
    run: RunId,
    after: JournalCursor,
    page: std::vec::IntoIter<StoredRecord>,
    is_at_end: bool,
}

/// Records read at once.
const PAGE_RECORDS: usize = 4096;

impl Iterator for RecordIter<'_> {
    type Item = Result<StoredRecord, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.page.as_slice().is_empty() && !self.is_at_end {
            match self.journal.page(self.run, self.after, PAGE_RECORDS) {
                Ok(page) => {
                    // A page is shorter than the limit where records are large, so only an empty one is the
                    // end.
                    self.is_at_end = page.is_empty();
                    self.page = page.into_iter();
                }
                Err(error) => {
                    // Ends the iterator: a caller that skips errors would read the same page for ever.
                    self.is_at_end = true;
                    return Some(Err(error));
                }
            }
        }
        let stored = self.page.next()?;
        self.after = stored.cursor;
        Some(Ok(stored))
    }
}
