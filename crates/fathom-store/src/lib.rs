//! The journal and its blobs on `SQLite` and in memory, with hash chains, signed heads and per-run keys.
//!
//! A record's way to the disk: [`JournalEntry::seal`] turns its texts into encrypted blobs, encodes it and links it to
//! its episode's [`RecordChain`]; [`RunLog::append`] queues it and returns; one writer thread commits all that waits,
//! and [`RunLog::durable`] tells when. [`HomeFolder::verify`] walks the same way back.

mod answer_index;
mod approvals;
pub mod channels;
mod error;
mod governance;
pub mod history;
mod home;
pub mod journal;
mod keys;
mod pins;
mod private_files;
pub mod records;
mod sqlite_file;
pub mod symbols;
mod vectors;

pub use answer_index::{
    ANSWER_AGE_MAX, ANSWERS_MAX, AnswerIndex, AnswerKey, AnswerPlace, IndexedAnswer,
};
pub use approvals::{
    APPROVALS_LISTED_MAX, ApprovalAnswer, ApprovalFilter, ApprovalId, ApprovalRecord,
    ApprovalState, ApprovalWord, ApproverKey, DecideError, DecideOutcome, SignedWord, UseOutcome,
};
pub use error::{DatabaseCause, StoreError};
pub use fathom_core::run::step::LogPosition;
pub use governance::{
    GovernanceAct, GovernanceStore, InitiativeBudget, NewAct, SAMPLES_KEPT, StackSample,
};
pub use home::{HomeFolder, RunLock};
pub use journal::chain::{ChainCheck, RecordChain};
pub use journal::entry::{EntryMark, JournalEntry};
pub use journal::idempotency::{ClaimOutcome, ClaimOwner, KeyClaim, KeyOverride, OverrideOutcome};
pub use journal::memory::MemoryJournal;
pub use journal::run_list::{NewRun, RunFilter, RunInfo, RunQuery, RunState};
pub use journal::run_log::{CommitDurability, CommitTicket, LogSink, LogState, RunLog};
pub use journal::seal::{RunKey, SealCache, SealedBlob, TextSealer};
pub use journal::signals::{KillOrder, KillRecord, LiftOutcome, PostedSignal, SignalId};
pub use journal::sqlite::{SqliteJournal, SqliteOptions};
pub use journal::verify::{Verification, VerifyFault, VerifyProblem, VerifyScope};
pub use journal::{Journal, JournalCursor, RecordIter, StoredRecord};
pub use keys::signatures::{NoKey, PublicKey};
pub use keys::{KeyRing, ShredOutcome, read_key_file};
pub use pins::{AcceptOutcome, PinOutcome, PinStanding, ToolPin, ToolSighting};
pub use vectors::{VECTORS_MAX, VectorCache, VectorHash};
