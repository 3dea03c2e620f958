//! The journal and its blobs on `SQLite` and in memory, with hash chains, signed heads and per-run keys.
//!
//! A record's way to the disk: [`JournalEntry::seal`] turns its texts into encrypted blobs, encodes it and links it to
//! its episode's [`RecordChain`]; [`RunLog::append`] queues it and returns; one writer thread commits all that waits,
//! and [`RunLog::durable`] tells when. [`HomeFolder::verify`] walks the same way back.

mod answers;
mod approvals;
mod cache_file;
mod entry;
mod error;
mod governance;
mod home;
mod journal;
mod keys;
mod log;
mod memory;
mod pins;
mod private_files;
mod registry;
mod runs;
mod signals;
mod signatures;
mod sqlite;
mod vectors;

pub mod chain;
pub mod channels;
pub mod heads;
pub mod history;
pub mod records;
pub mod seal;
mod shared_file;
pub mod symbols;
pub mod verify;

pub use answers::{
    ANSWER_AGE_MAX, ANSWERS_MAX, AnswerIndex, AnswerKey, AnswerPlace, IndexedAnswer,
};
pub use approvals::{
    APPROVALS_LISTED_MAX, ApprovalAnswer, ApprovalFilter, ApprovalId, ApprovalRecord,
    ApprovalState, ApprovalWord, ApproverKey, DecideError, DecideOutcome, SignedWord, UseOutcome,
};
pub use chain::{ChainCheck, RecordChain};
pub use entry::{EntryMark, JournalEntry};
pub use error::{DatabaseCause, StoreError};
pub use fathom_core::step::LogPosition;
pub use governance::{
    GovernanceAct, GovernanceStore, InitiativeBudget, NewAct, SAMPLES_KEPT, StackSample,
};
pub use home::{HomeFolder, RunLock};
pub use journal::{Journal, JournalCursor, RecordIter, StoredRecord};
pub use keys::{KeyRing, ShredOutcome, read_key_file};
pub use log::{CommitDurability, CommitTicket, LogSink, LogState, RunLog};
pub use memory::MemoryJournal;
pub use pins::{AcceptOutcome, PinOutcome, PinStanding, ToolPin, ToolSighting};
pub use registry::{ClaimOutcome, ClaimOwner, KeyClaim, KeyOverride, OverrideOutcome};
pub use runs::{NewRun, RunFilter, RunInfo, RunQuery, RunState};
pub use seal::{RunKey, SealCache, SealedBlob, TextSealer};
pub use signals::{KillOrder, KillRecord, LiftOutcome, PostedSignal, SignalId};
pub use signatures::{NoKey, PublicKey};
pub use sqlite::{SqliteJournal, SqliteOptions};
pub use vectors::{VECTORS_MAX, VectorCache, VectorHash};
pub use verify::{Verification, VerifyFault, VerifyProblem, VerifyScope};
