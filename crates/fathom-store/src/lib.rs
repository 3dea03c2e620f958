//! The journal and its blobs on `SQLite` and in memory, with hash chains, signed heads and per-run keys.
//!
//! A record's way to the disk: [`Entry::seal`] turns its texts into encrypted blobs, encodes it and links it to
//! its episode's [`Chain`]; [`RunLog::append`] queues it and returns; one writer thread commits all that waits,
//! and [`RunLog::durable`] tells when. [`Home::verify`] walks the same way back.

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

pub use answers::{ANSWER_AGE_MAX, ANSWERS_MAX, Answer, AnswerKey, AnswerPlace, Answers};
pub use approvals::{
    APPROVALS_LISTED_MAX, Approval, ApprovalFilter, ApprovalId, ApprovalState, ApproverKey,
    DecideOutcome, SignedWord, Undecidable, UseOutcome, Word, YesNo,
};
pub use chain::{Chain, ChainCheck};
pub use entry::{Entry, Mark};
pub use error::{DatabaseCause, StoreError};
pub use fathom_core::step::Position;
pub use governance::{Act, Governance, Initiative, NewAct, SAMPLES_KEPT, Sample};
pub use home::{Home, RunLock};
pub use journal::{Cursor, Journal, Records, Stored};
pub use keys::{KeyRing, Shredded, read_key_file};
pub use log::{Durability, LogSink, LogState, RunLog, Ticket};
pub use memory::MemoryJournal;
pub use pins::{Accepted, Pin, PinOutcome, Sighting, Standing};
pub use registry::{Claim, ClaimOutcome, ClaimOwner, Override, OverrideOutcome};
pub use runs::{NewRun, RunFilter, RunInfo, RunQuery, RunState};
pub use seal::{Blob, RunKey, Sealed, Sealer};
pub use signals::{KillOrder, KillRecord, Lifted, PostedSignal, SignalId};
pub use signatures::{NoKey, PublicKey};
pub use sqlite::{SqliteJournal, SqliteOptions};
pub use vectors::{VECTORS_MAX, VectorCache, VectorHash};
pub use verify::{Fault, Problem, Scope, Verification};
