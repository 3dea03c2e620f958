//! Entries of the journal: one record, sealed, encoded and linked to its chain.

use fathom_core::episode::result::EpisodeStatus;
use fathom_core::id::{Digest, EpisodeId, Epoch, Seq};
use fathom_core::journal::command::Command;
use fathom_core::journal::event::{EventKind, JournalRecord, ReleaseReason};
use fathom_core::unit::Timestamp;

use crate::error::StoreError;
use crate::journal::chain::{self, RecordChain};
use crate::journal::seal::{SealCache, SealedBlob, TextSealer};
use crate::journal::signals::SignalId;

/// One record on its way to the disk.
#[derive(Clone, Debug)]
pub struct JournalEntry {
    pub episode: EpisodeId,
    /// Its place in the episode's chain.
    pub seq: Seq,
    /// The owner that writes it.
    pub epoch: Epoch,
    /// Time at which the run took in the event.
    pub at: Timestamp,
    /// The encoded record.
    pub bytes: Vec<u8>,
    /// Its digest in the chain.
    pub hash: Digest,
    /// The sealed texts it refers to; stored in the same commit.
    pub blobs: Vec<SealedBlob>,
    /// Effect on the episode's state.
    pub mark: EntryMark,
    /// Model calls that follow from it.
    pub model_calls: u32,
    /// Signals from other processes that it takes in; they are removed in the same commit.
    pub settles: Vec<SignalId>,
}

/// Effect of a record on its episode, as far as the journal needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryMark {
    /// The episode continues.
    Plain,
    /// The episode continues, and the head of its chain is signed before the record counts as durable.
    Checkpoint,
    /// The owner releases the run. The head is signed, too.
    Released(ReleaseReason),
    /// The episode ends here. The head is signed, too.
    Finished(EpisodeStatus),
}

impl JournalEntry {
    /// Seals and encodes `record`, and puts it at the end of `chain`.
    ///
    /// The record keeps its plain texts, which have addresses now. When this fails the chain is as before.
    pub fn seal(
        record: &mut JournalRecord,
        chain: &mut RecordChain,
        sealer: &TextSealer,
    ) -> Result<Self, StoreError> {
        Self::seal_anew(record, chain, sealer, &mut SealCache::default())
    }

    /// The same, without the blobs of texts that were sealed for an earlier record of the run.
    pub fn seal_anew(
        record: &mut JournalRecord,
        chain: &mut RecordChain,
        sealer: &TextSealer,
        lately: &mut SealCache,
    ) -> Result<Self, StoreError> {
        // Before anything is sealed: on an error the chain and the record must be as they were.
        if record.seq != chain.next_seq() || sealer.run() != chain.run() {
            return Err(StoreError::OutOfOrder {
                run: chain.run(),
                episode: chain.episode().clone(),
                seq: record.seq,
            });
        }
        let blobs = sealer.seal_anew(record, lately)?;
        let bytes = chain::encode(record)?;
        let hash = chain.extend(&bytes);
        Ok(Self {
            episode: chain.episode().clone(),
            seq: record.seq,
            epoch: record.epoch,
            at: record.event.at,
            bytes,
            hash,
            blobs,
            mark: EntryMark::of(record),
            model_calls: model_calls(record),
            settles: Vec::new(),
        })
    }

    /// Also has the head signed before the record counts as durable.
    #[must_use]
    pub fn checkpoint(mut self) -> Self {
        if self.mark == EntryMark::Plain {
            self.mark = EntryMark::Checkpoint;
        }
        self
    }

    /// Also removes a posted signal, which this record takes in.
    #[must_use]
    pub fn settling(mut self, signal: SignalId) -> Self {
        self.settles.push(signal);
        self
    }

    /// Size in the journal's queue.
    pub(crate) fn size_bytes(&self) -> usize {
        let blobs: usize = self.blobs.iter().map(|blob| blob.bytes.len()).sum();
        self.bytes.len() + blobs
    }
}

impl EntryMark {
    /// The mark of `record`.
    pub fn of(record: &JournalRecord) -> Self {
        match (record.result(), &record.event.kind) {
            (Some(result), _) => Self::Finished(result.status),
            (None, EventKind::Released { why }) => Self::Released(*why),
            (None, _) => Self::Plain,
        }
    }

    /// True if the chain's head is signed before the record counts as durable.
    pub(crate) const fn wants_signed_head(self) -> bool {
        match self {
            Self::Plain => false,
            Self::Checkpoint | Self::Released(_) | Self::Finished(_) => true,
        }
    }
}

fn model_calls(record: &JournalRecord) -> u32 {
    let calls = record.commands.iter();
    let calls = calls.filter(|command| matches!(command, Command::CallModel { .. }));
    u32::try_from(calls.count()).unwrap_or(u32::MAX)
}
