//! A log-structured journal on the simulated disk, with the store's sealing, encoding and hash chains.
//!
//! One file, one frame after another: a kind, a length and the payload. Sealed texts come before the record that
//! refers to them. Recovery reads up to the first frame that is not whole and forgets the rest, so whatever
//! survives is a prefix of what was appended.

use std::collections::{BTreeMap, BTreeSet};

use fathom_core::id::{Digest, EpisodeId, Epoch, RunId};
use fathom_core::journal::event::JournalRecord;
use fathom_core::run::step::{AppendReceipt, LogPosition, RecordLog};
use fathom_store::journal::chain::{self, ChainBreak};
use fathom_store::journal::seal::address_of;
use fathom_store::{ChainCheck, JournalEntry, RecordChain, RunKey, StoreError, TextSealer};

use super::audit::Auditor;
use super::bug::PlantedBug;
use super::crash_points::CrashPoint;
use super::disk::{DiskError, SimDisk};
use super::violation::{InvariantViolation, SimInvariant};

const BLOB: u8 = 1;
const RECORD: u8 = 2;
const OWNER: u8 = 3;
const DIGEST_BYTES: usize = 32;
const HEADER_BYTES: usize = 5;

/// A record that was read back or appended, with the chain's head after it.
#[derive(Clone, Debug)]
pub(super) struct EnteredRecord {
    pub(super) episode: EpisodeId,
    pub(super) record: JournalRecord,
    pub(super) head: Digest,
}

/// Reason why the journal accepted nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SimStopped {
    /// The disk failed; nothing is taken any more.
    Disk(DiskError),
    /// A newer owner has the run.
    Fenced,
}

/// The writing end, in the hands of one owner.
pub(super) struct SimJournal {
    run: RunId,
    sealer: TextSealer,
    epoch: Epoch,
    chains: BTreeMap<EpisodeId, RecordChain>,
    known_blobs: BTreeSet<Digest>,
    /// Heads of all records, in the order of the log.
    pub(super) heads: Vec<Digest>,
    /// Appended and not yet synced.
    pub(super) tail: Vec<EnteredRecord>,
    /// Bytes that wait in memory for the next commit.
    buffer: Vec<u8>,
    buffered: bool,
    stopped: Option<SimStopped>,
}

impl SimJournal {
    pub(super) fn sealer(run: RunId) -> TextSealer {
        let mut key = [7; 32];
        key[..16].copy_from_slice(run.as_bytes());
        TextSealer::new(run, &RunKey::from_bytes(key))
    }

    /// Makes the caller the owner of what was recovered: cuts off what is not whole and writes its claim.
    pub(super) fn claim(recovered: &RecoveredLog, disk: &mut SimDisk) -> Result<Epoch, DiskError> {
        let epoch = Epoch(recovered.epoch.0.max(disk.owner.0) + 1);
        if recovered.bytes < disk.len() {
            disk.truncate(recovered.bytes);
        }
        disk.append(&owner_frame(epoch))?;
        Ok(epoch)
    }

    /// Continues where the recovered journal ends.
    pub(super) fn open(run: RunId, epoch: Epoch, recovered: &RecoveredLog, buffered: bool) -> Self {
        Self {
            run,
            sealer: Self::sealer(run),
            epoch,
            chains: recovered.chains.clone(),
            known_blobs: recovered.blobs.keys().copied().collect(),
            heads: recovered.entries.iter().map(|entry| entry.head).collect(),
            tail: Vec::new(),
            buffer: Vec::new(),
            buffered,
            stopped: None,
        }
    }

    pub(super) fn epoch(&self) -> Epoch {
        self.epoch
    }

    pub(super) fn position(&self) -> LogPosition {
        LogPosition(self.heads.len() as u64)
    }

    pub(super) fn has_unsynced(&self) -> bool {
        !self.tail.is_empty()
    }

    fn append(
        &mut self,
        disk: &mut SimDisk,
        episode: &EpisodeId,
        mut record: JournalRecord,
    ) -> Result<AppendReceipt, StoreError> {
        let run = self.run;
        let chain = self
            .chains
            .entry(episode.clone())
            .or_insert_with(|| RecordChain::new(run, episode.clone()));
        let entry = JournalEntry::seal(&mut record, chain, &self.sealer)?;
        for blob in &entry.blobs {
            if self.known_blobs.insert(blob.address) {
                let parts: [&[u8]; 2] = [&blob.address.0, &blob.bytes];
                frame(&mut self.buffer, BLOB, &parts);
            }
        }
        let name = episode.to_string();
        let len = [u8::try_from(name.len()).unwrap_or(u8::MAX)];
        let parts: [&[u8]; 4] = [&len, name.as_bytes(), &entry.bytes, &entry.hash.0];
        frame(&mut self.buffer, RECORD, &parts);
        self.heads.push(entry.hash);
        self.tail.push(EnteredRecord {
            episode: episode.clone(),
            record,
            head: entry.hash,
        });
        if !self.buffered {
            self.write(disk);
        }
        Ok(AppendReceipt {
            position: self.position(),
            head: entry.hash,
        })
    }

    /// Hands the buffer to the disk. After a failure nothing is taken any more: what came later would stand on
    /// something that is not there.
    pub(super) fn write(&mut self, disk: &mut SimDisk) {
        if self.stopped.is_none() && self.epoch < disk.owner && !disk.unfenced {
            self.stopped = Some(SimStopped::Fenced);
        }
        if self.stopped.is_none() && !self.buffer.is_empty() {
            self.stopped = disk.append(&self.buffer).err().map(SimStopped::Disk);
            self.buffer.clear();
        }
    }

    /// Makes everything that was appended durable and gives it back.
    pub(super) fn commit(&mut self, disk: &mut SimDisk) -> Result<Vec<EnteredRecord>, SimStopped> {
        self.write(disk);
        if self.stopped.is_none() {
            self.stopped = disk.sync().err().map(SimStopped::Disk);
        }
        match self.stopped {
            Some(why) => Err(why),
            None => Ok(std::mem::take(&mut self.tail)),
        }
    }
}

/// The log as a run sees it: journal and disk, watched by the auditor, with a crash between any two appends.
pub(super) struct SimWriter<'a> {
    pub(super) journal: &'a mut SimJournal,
    pub(super) disk: &'a mut SimDisk,
    pub(super) audit: &'a mut Auditor,
    pub(super) boundary: &'a mut CrashPoint,
    pub(super) violation: &'a mut Option<InvariantViolation>,
}

impl RecordLog for SimWriter<'_> {
    fn append(&mut self, episode: &EpisodeId, record: JournalRecord) -> AppendReceipt {
        let nowhere = AppendReceipt {
            position: LogPosition(u64::MAX),
            head: Digest::default(),
        };
        // A process that died here does not know it yet: whatever follows reaches nobody.
        if self.boundary.crosses() || self.violation.is_some() {
            return nowhere;
        }
        let position = LogPosition(self.journal.position().0 + 1);
        if let Err(violation) = self.audit.take(episode, &record, position) {
            *self.violation = Some(violation);
            return nowhere;
        }
        let appended = match self.journal.append(self.disk, episode, record) {
            Ok(appended) => appended,
            Err(error) => {
                let detail = error.to_string();
                *self.violation = Some(InvariantViolation::new(SimInvariant::Sequence, detail));
                return nowhere;
            }
        };
        self.boundary.crosses();
        appended
    }
}

/// Log that a new owner finds.
pub(super) struct RecoveredLog {
    pub(super) entries: Vec<EnteredRecord>,
    pub(super) chains: BTreeMap<EpisodeId, RecordChain>,
    pub(super) blobs: BTreeMap<Digest, Vec<u8>>,
    pub(super) epoch: Epoch,
    /// Length of what is whole.
    pub(super) bytes: usize,
    /// Reason why the rest is not.
    pub(super) broken: Option<String>,
}

/// Reads the journal up to the first frame that is not whole.
pub(super) fn recover(run: RunId, bytes: &[u8], bug: Option<PlantedBug>) -> RecoveredLog {
    let mut reader = SimReader {
        run,
        checks: BTreeMap::new(),
        sealer: SimJournal::sealer(run),
        is_trusting: bug == Some(PlantedBug::ChainUnchecked),
        found: RecoveredLog {
            entries: Vec::new(),
            chains: BTreeMap::new(),
            blobs: BTreeMap::new(),
            epoch: Epoch::default(),
            bytes: 0,
            broken: None,
        },
    };
    while reader.found.bytes < bytes.len() {
        let rest = &bytes[reader.found.bytes..];
        match reader.frame(rest) {
            Ok(len) => reader.found.bytes += len,
            Err(why) => {
                reader.found.broken = Some(why.to_string());
                break;
            }
        }
    }
    let chains = reader.checks.into_iter();
    reader.found.chains = chains.map(|(id, check)| (id, check.chain)).collect();
    reader.found
}

/// A chain under check, and its end for those who do not check.
struct RecoveryCheck {
    check: ChainCheck,
    chain: RecordChain,
}

/// The first damage in a journal.
#[derive(Debug, thiserror::Error)]
enum FrameDamage {
    #[error("half {0}")]
    Half(&'static str),
    #[error("a frame of kind {0}")]
    Kind(u8),
    #[error("a text that is not what its address says")]
    Text,
    #[error("an owner that is not what was written")]
    Owner,
    #[error("an owner of another length")]
    OwnerLength,
    #[error("an empty record")]
    EmptyRecord,
    #[error("a record of no episode")]
    Episode,
    #[error(transparent)]
    Name(#[from] std::str::Utf8Error),
    #[error(transparent)]
    Chain(#[from] ChainBreak),
    #[error(transparent)]
    Store(#[from] StoreError),
}

struct SimReader {
    run: RunId,
    checks: BTreeMap<EpisodeId, RecoveryCheck>,
    sealer: TextSealer,
    is_trusting: bool,
    found: RecoveredLog,
}

impl SimReader {
    fn frame(&mut self, rest: &[u8]) -> Result<usize, FrameDamage> {
        let header = rest
            .get(..HEADER_BYTES)
            .ok_or(FrameDamage::Half("a header"))?;
        let len = u32::from_le_bytes([header[1], header[2], header[3], header[4]]) as usize;
        let end = HEADER_BYTES + len;
        let payload = rest
            .get(HEADER_BYTES..end)
            .ok_or(FrameDamage::Half("a frame"))?;
        match header[0] {
            BLOB => self.blob(payload)?,
            RECORD => self.record(payload)?,
            OWNER => self.owner(payload)?,
            kind => return Err(FrameDamage::Kind(kind)),
        }
        Ok(end)
    }

    fn blob(&mut self, payload: &[u8]) -> Result<(), FrameDamage> {
        let (address, bytes) = digest_first(payload).ok_or(FrameDamage::Half("a text"))?;
        if address_of(bytes) != address {
            return Err(FrameDamage::Text);
        }
        self.found.blobs.insert(address, bytes.to_vec());
        Ok(())
    }

    fn owner(&mut self, payload: &[u8]) -> Result<(), FrameDamage> {
        let (digest, bytes) = digest_first(payload).ok_or(FrameDamage::Half("an owner"))?;
        if address_of(bytes) != digest {
            return Err(FrameDamage::Owner);
        }
        let epoch: [u8; 8] = bytes.try_into().map_err(|_| FrameDamage::OwnerLength)?;
        let epoch = Epoch(u64::from_le_bytes(epoch));
        self.found.epoch = self.found.epoch.max(epoch);
        Ok(())
    }

    fn record(&mut self, payload: &[u8]) -> Result<(), FrameDamage> {
        let (&len, rest) = payload.split_first().ok_or(FrameDamage::EmptyRecord)?;
        let (name, rest) = rest
            .split_at_checked(len.into())
            .ok_or(FrameDamage::Half("a name"))?;
        let (bytes, hash) = rest
            .len()
            .checked_sub(DIGEST_BYTES)
            .and_then(|at| rest.split_at_checked(at))
            .ok_or(FrameDamage::Half("a record"))?;
        let hash = Digest(hash.try_into().map_err(|_| FrameDamage::Half("a digest"))?);
        let name = std::str::from_utf8(name)?;
        let episode: EpisodeId = name.parse().map_err(|_| FrameDamage::Episode)?;
        let run = self.run;
        let check = self
            .checks
            .entry(episode.clone())
            .or_insert_with(|| RecoveryCheck {
                check: ChainCheck::new(run, episode.clone()),
                chain: RecordChain::new(run, episode.clone()),
            });
        let mut record = if self.is_trusting {
            chain::decode(bytes)?
        } else {
            check.check.step(bytes, &hash)?
        };
        check.chain.extend(bytes);
        let blobs = &self.found.blobs;
        self.sealer
            .open(&mut record, |address| Ok(blobs.get(address).cloned()))?;
        self.found.epoch = self.found.epoch.max(record.epoch);
        self.found.entries.push(EnteredRecord {
            episode,
            record,
            head: hash,
        });
        Ok(())
    }
}

fn digest_first(payload: &[u8]) -> Option<(Digest, &[u8])> {
    let (digest, rest) = payload.split_first_chunk()?;
    Some((Digest(*digest), rest))
}

fn owner_frame(epoch: Epoch) -> Vec<u8> {
    let bytes = epoch.0.to_le_bytes();
    let mut out = Vec::new();
    frame(&mut out, OWNER, &[&address_of(&bytes).0, &bytes]);
    out
}

fn frame(out: &mut Vec<u8>, kind: u8, parts: &[&[u8]]) {
    let len: usize = parts.iter().map(|part| part.len()).sum();
    out.push(kind);
    out.extend_from_slice(&u32::try_from(len).unwrap_or(u32::MAX).to_le_bytes());
    for part in parts {
        out.extend_from_slice(part);
    }
}
