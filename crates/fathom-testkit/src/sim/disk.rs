//! A disk that forgets: what was written and not synced may be dropped, torn or reordered by a crash.

use fathom_core::id::Epoch;

use super::rng::SimRng;

/// Failure of a disk operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DiskError {
    /// No space left.
    Full,
    /// The device failed.
    Io,
}

/// Kind of stop of the machine under the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CrashKind {
    /// The process dies; what it wrote stays with the system.
    Process,
    /// The power goes; what was not synced is at the disk's mercy.
    Power,
}

/// Damage found after a crash, for the statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DiskDamage {
    pub(super) dropped: u64,
    pub(super) torn: u64,
}

struct DiskWrite {
    offset: usize,
    bytes: Vec<u8>,
}

/// One file on a simulated disk.
pub(super) struct SimDisk {
    /// Bytes that survive any crash.
    synced: Vec<u8>,
    /// Bytes that a reader sees: `synced` with all writes since.
    cache: Vec<u8>,
    dirty: Vec<DiskWrite>,
    /// The file's length as the last truncation left it, where that is not synced.
    cut: Option<usize>,
    capacity: usize,
    /// Out of a thousand operations, how many fail.
    pub(super) write_failures_permille: u64,
    pub(super) sync_failures_permille: u64,
    pub(super) read_failures_permille: u64,
    /// The newest owner, as everyone who shares the disk sees it.
    pub(super) owner: Epoch,
    /// A planted bug: sync says yes and does nothing.
    pub(super) lies: bool,
    /// A planted bug: the owner is not checked before a write.
    pub(super) unfenced: bool,
    rng: SimRng,
}

impl SimDisk {
    pub(super) fn new(capacity: usize, rng: SimRng) -> Self {
        Self {
            synced: Vec::new(),
            cache: Vec::new(),
            dirty: Vec::new(),
            cut: None,
            capacity,
            write_failures_permille: 0,
            sync_failures_permille: 0,
            read_failures_permille: 0,
            owner: Epoch::default(),
            lies: false,
            unfenced: false,
            rng,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.cache.len()
    }

    /// Makes room, as a person who deletes something else does.
    pub(super) fn grow(&mut self, by: usize) {
        self.capacity = self.capacity.saturating_add(by);
    }

    pub(super) fn read(&mut self) -> Result<Vec<u8>, DiskError> {
        if self.rng.chance(self.read_failures_permille) {
            return Err(DiskError::Io);
        }
        Ok(self.cache.clone())
    }

    /// Writes at the end. A failed write may leave a part behind.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<(), DiskError> {
        let room = self.capacity.saturating_sub(self.cache.len());
        if bytes.len() > room {
            let part = self.rng.index(room + 1);
            self.write(&bytes[..part]);
            return Err(DiskError::Full);
        }
        if self.rng.chance(self.write_failures_permille) {
            let part = self.rng.index(bytes.len() + 1);
            self.write(&bytes[..part]);
            return Err(DiskError::Io);
        }
        self.write(bytes);
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        self.dirty.push(DiskWrite {
            offset: self.cache.len(),
            bytes: bytes.to_vec(),
        });
        self.cache.extend_from_slice(bytes);
    }

    /// Cuts the file off. Like a write, this is not durable before the next sync.
    pub(super) fn truncate(&mut self, len: usize) {
        self.cache.truncate(len);
        for write in &mut self.dirty {
            write.bytes.truncate(len.saturating_sub(write.offset));
        }
        self.dirty.retain(|write| !write.bytes.is_empty());
        self.cut = Some(len);
    }

    /// Makes everything durable. If that fails, the result is unknown: the disk keeps an arbitrary part, and the rest
    /// is gone from the cache as well.
    pub(super) fn sync(&mut self) -> Result<(), DiskError> {
        if self.lies {
            return Ok(());
        }
        if self.rng.chance(self.sync_failures_permille) {
            self.lose();
            return Err(DiskError::Io);
        }
        if let Some(cut) = self.cut.take() {
            self.synced.truncate(cut);
        }
        for write in self.dirty.drain(..) {
            put(&mut self.synced, write.offset, &write.bytes);
        }
        Ok(())
    }

    /// Everything stops.
    pub(super) fn crash(&mut self, how: CrashKind) -> DiskDamage {
        match how {
            CrashKind::Process => DiskDamage::default(),
            CrashKind::Power => self.lose(),
        }
    }

    fn lose(&mut self) -> DiskDamage {
        let mut damage = DiskDamage::default();
        if let Some(cut) = self.cut.take()
            && self.rng.chance(500)
        {
            self.synced.truncate(cut);
        }
        // Some disks write in order, some do not.
        let in_order = self.rng.chance(600);
        let kept = self.rng.index(self.dirty.len() + 1);
        for (at, write) in self.dirty.drain(..).enumerate() {
            let whole = if in_order {
                at < kept
            } else {
                self.rng.chance(500)
            };
            let torn = if in_order {
                at == kept
            } else {
                !whole && self.rng.chance(300)
            };
            if whole {
                put(&mut self.synced, write.offset, &write.bytes);
            } else if torn {
                damage.torn += 1;
                let len = tear(&mut self.rng, write.bytes.len());
                put(&mut self.synced, write.offset, &write.bytes[..len]);
                // The file may already have its new length, with nothing in the rest.
                if self.rng.chance(500) {
                    let end = write.offset + write.bytes.len();
                    if self.synced.len() < end {
                        self.synced.resize(end, 0);
                    }
                }
            } else {
                damage.dropped += 1;
            }
        }
        self.cache.clone_from(&self.synced);
        damage
    }
}

/// Length of a torn write: any, but often nearly all of it, which is the dangerous case.
fn tear(rng: &mut SimRng, len: usize) -> usize {
    if rng.chance(400) {
        len.saturating_sub(1 + rng.index(40))
    } else {
        rng.index(len)
    }
}

fn put(file: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    let end = offset + bytes.len();
    if file.len() < end {
        file.resize(end, 0);
    }
    file[offset..end].copy_from_slice(bytes);
}
