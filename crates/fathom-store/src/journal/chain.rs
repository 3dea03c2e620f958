//! The hash chain of an episode: pure functions from records to bytes and digests, and back.
//!
//! Nothing here touches a file, so the same functions serve the journal, the verifier and a simulated disk.

use std::fmt;
use std::sync::LazyLock;

use fathom_core::id::{Digest, EpisodeId, Epoch, RunId, Seq};
use fathom_core::journal::event::JournalRecord;
use sha2::{Digest as _, Sha256};

use crate::error::StoreError;

/// Largest record, sealed and encoded. Its texts lie elsewhere, so this is many thousand of them.
pub const RECORD_BYTES_MAX: usize = 16 * 1024 * 1024;

// A tag per use of SHA-256, so that a digest of one kind cannot pass for another.
const LINK_TAG: &[u8] = b"fathom/chain/1/link";
const GENESIS_TAG: &[u8] = b"fathom/chain/1/genesis";

/// Digest that precedes the first record of every chain.
pub fn genesis() -> Digest {
    static GENESIS: LazyLock<Digest> = LazyLock::new(|| Digest(Sha256::digest(GENESIS_TAG).into()));
    *GENESIS
}

/// The bytes that the journal stores of a record. Its texts must be sealed first, or they would be stored in
/// the clear.
pub fn encode(record: &JournalRecord) -> Result<Vec<u8>, StoreError> {
    let bytes = serde_json::to_vec(record).map_err(|error| StoreError::NotARecord {
        what: error.to_string(),
    })?;
    if bytes.len() > RECORD_BYTES_MAX {
        return Err(StoreError::TooLarge {
            bytes: bytes.len(),
            max: RECORD_BYTES_MAX,
        });
    }
    Ok(bytes)
}

/// Decodes a record; its texts are closed until they are opened.
pub fn decode(bytes: &[u8]) -> Result<JournalRecord, StoreError> {
    serde_json::from_slice(bytes).map_err(|error| StoreError::NotARecord {
        what: error.to_string(),
    })
}

/// The digest of a record that follows `previous`.
///
/// It covers the run and the episode too, so a record cannot be moved to another chain. Both parts of unknown
/// length carry it in front.
pub fn link(previous: &Digest, run: RunId, episode: &EpisodeId, bytes: &[u8]) -> Digest {
    let episode = episode.to_string();
    let mut hasher = Sha256::new();
    hasher.update(LINK_TAG);
    hasher.update(previous.0);
    hasher.update(run.as_bytes());
    for part in [episode.as_bytes(), bytes] {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    Digest(hasher.finalize().into())
}

/// The growing end of an episode's chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordChain {
    run: RunId,
    episode: EpisodeId,
    next: Seq,
    head: Digest,
}

impl RecordChain {
    /// A chain without records.
    pub fn new(run: RunId, episode: EpisodeId) -> Self {
        Self {
            run,
            episode,
            next: Seq(0),
            head: genesis(),
        }
    }

    /// The run it belongs to.
    pub fn run(&self) -> RunId {
        self.run
    }

    /// The episode it belongs to.
    pub fn episode(&self) -> &EpisodeId {
        &self.episode
    }

    /// The place of the record to come.
    pub fn next_seq(&self) -> Seq {
        self.next
    }

    /// The digest of the last record, which stands for all before it.
    pub fn head(&self) -> Digest {
        self.head
    }

    /// Adds a record's bytes and returns its digest.
    pub fn extend(&mut self, bytes: &[u8]) -> Digest {
        self.head = link(&self.head, self.run, &self.episode, bytes);
        self.next = self.next.next();
        self.head
    }
}

/// Walks a stored chain and reports where it breaks.
#[derive(Clone, Debug)]
pub struct ChainCheck {
    chain: RecordChain,
    epoch: Epoch,
}

impl ChainCheck {
    /// Starts before the first record.
    pub fn new(run: RunId, episode: EpisodeId) -> Self {
        Self {
            chain: RecordChain::new(run, episode),
            epoch: Epoch::default(),
        }
    }

    /// Checks the next stored record. After a break nothing more can be said about the chain.
    pub fn step(&mut self, bytes: &[u8], hash: &Digest) -> Result<JournalRecord, ChainBreak> {
        let seq = self.chain.next;
        let at = |why| ChainBreak { seq, why };
        let previous = self.chain.head;
        // Before decoding: bytes that were not written here are not parsed.
        if link(&previous, self.chain.run, &self.chain.episode, bytes) != *hash {
            return Err(at(BreakKind::Hash));
        }
        let record = decode(bytes).map_err(|error| {
            at(BreakKind::Undecodable {
                what: error.to_string(),
            })
        })?;
        if record.seq != seq {
            return Err(at(BreakKind::Sequence { found: record.seq }));
        }
        // An older owner after a newer one: a fenced process wrote, or records were reordered.
        if record.epoch < self.epoch {
            return Err(at(BreakKind::EpochWentBack {
                from: self.epoch,
                to: record.epoch,
            }));
        }
        self.epoch = record.epoch;
        self.chain.head = *hash;
        self.chain.next = seq.next();
        Ok(record)
    }

    /// The chain up to here, to be continued.
    pub fn chain(&self) -> &RecordChain {
        &self.chain
    }

    /// The newest owner seen.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }
}

/// The first record at which a chain is not what was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the chain breaks at record {seq}: {why}")]
pub struct ChainBreak {
    pub seq: Seq,
    pub why: BreakKind,
}

/// Kinds of breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BreakKind {
    /// The digest does not match the bytes and the digest before.
    Hash,
    /// The bytes are not a record.
    Undecodable { what: String },
    /// The record has another sequence number.
    Sequence {
        /// The number in the record.
        found: Seq,
    },
    /// An owner wrote after a newer one.
    EpochWentBack {
        /// The newer owner.
        from: Epoch,
        /// The one that wrote.
        to: Epoch,
    },
}

impl fmt::Display for BreakKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hash => f.write_str("the digest does not match the bytes"),
            Self::Undecodable { what } => f.write_str(what),
            Self::Sequence { found } => write!(f, "the record has number {found}"),
            Self::EpochWentBack { from, to } => {
                write!(f, "owner {} wrote after owner {}", to.0, from.0)
            }
        }
    }
}
