//! The history of a session: encrypted lines in a file of their own, one record a line.
//!
//! A line is sealed with XChaCha20-Poly1305 under a key of the session. It is bound to the session, to its place and to
//! the tag of the line before it, so that one that was changed, dropped, added, moved or brought from elsewhere does not
//! open. A file cannot see by itself that its end is gone: for that the journal keeps the last [`HistoryHead`], and gives it to
//! [`SessionHistoryStore::open`].
//!
//! A line contains everything that was added at once, so that a crash leaves all of it or nothing.

mod age;
mod error;
mod export;
mod record;
mod scan;
mod sealed_line;

use std::collections::HashSet;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use fathom_core::id::Digest;
use hmac::Mac;

pub use error::HistoryError;
pub use record::{AuthTag, HistoryEntry, HistoryHead};

use crate::error::StoreError;
use crate::keys::KeyRing;
use crate::private_files;
use record::HistoryLine;
use scan::{HistoryScan, has_hole, scan};
use sealed_line::{LineSealer, SealedLine};

/// Bytes of a session's name.
pub const SESSION_BYTES_MAX: usize = 256;

/// Bytes that can be added at once.
pub const RECORD_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Bytes of a whole history.
pub const HISTORY_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Number of the first key.
const FIRST_KEY: u32 = 1;

const NAME_TAG: &[u8] = b"fathom/session-name/1";

/// The history of one session, owned exclusively until it is dropped.
pub struct SessionHistoryStore {
    path: PathBuf,
    session: String,
    name: Digest,
    keys: KeyRing,
    sealer: LineSealer,
    file: File,
    /// Bytes of whole lines.
    bytes: u64,
    head: HistoryHead,
    /// Keys of the stored batches.
    batches: HashSet<String>,
    _lock: File,
}

impl std::fmt::Debug for SessionHistoryStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { path, head, .. } = self;
        f.debug_struct("History")
            .field("path", path)
            .field("head", head)
            .finish_non_exhaustive()
    }
}

impl SessionHistoryStore {
    /// Opens the history of a session and checks every line of it. `known` is the last head in the journal; a
    /// history that lacks it is refused. A missing one is created.
    ///
    /// The session's name is arbitrary text, so it never becomes a path: the file is named by a keyed hash of
    /// it.
    pub fn open(
        folder: &Path,
        session: &str,
        keys: &KeyRing,
        known: Option<&HistoryHead>,
    ) -> Result<Self, HistoryError> {
        let bytes = session.len();
        if bytes == 0 || bytes > SESSION_BYTES_MAX {
            return Err(HistoryError::Session { bytes });
        }
        let name = keys.sessions_secret()?.keyed(NAME_TAG);
        let name = Digest(name.chain_update(session).finalize().into_bytes().into());
        private_files::create_folder(folder)?;
        let path = folder.join(format!("{name}.jsonl"));
        // Before the file is read: its last line belongs to whoever holds the lock.
        let lock = lock(&path.with_extension("lock"))?;
        private_files::create_if_missing(&path)?;
        let mut file = private_files::open_or_create(&path)?;

        let known = known.copied().unwrap_or_default();
        let text = read_whole(&mut file, &path)?;
        let sealer = sealer(&text, session, name, keys)?;
        let found = scan(&text, &sealer, known)?;
        if found.bytes < text.len() {
            tracing::warn!(
                line = found.head.sequence + 1,
                bytes = text.len() - found.bytes,
                "the last line of a session's history was never finished and is left out"
            );
        }
        Ok(Self {
            batches: batches(&found),
            bytes: found.bytes as u64,
            head: found.head,
            path,
            session: session.to_owned(),
            name,
            keys: keys.clone(),
            sealer,
            file,
            _lock: lock,
        })
    }

    /// The end of the history.
    pub const fn head(&self) -> HistoryHead {
        self.head
    }

    /// Adds entries at the end, all or none, and returns once they are on disk. A key is added only once. The
    /// head is for the journal.
    pub fn append(
        &mut self,
        key: &str,
        entries: &[HistoryEntry],
    ) -> Result<HistoryHead, HistoryError> {
        if self.batches.contains(key) {
            return Ok(self.head);
        }
        let record = HistoryLine::Batch {
            key: key.to_owned(),
            entries: entries.to_vec(),
        };
        let (line, head) = self.sealer.seal(self.head, &record)?;
        let bytes = check_size(self.bytes + line.len() as u64)?;
        self.write(&line)
            .map_err(|error| StoreError::io("append to", &self.path, error))?;
        self.bytes = bytes;
        self.head = head;
        self.batches.insert(key.to_owned());
        Ok(head)
    }

    /// All entries, in order. Every line is checked again.
    pub fn read(&mut self) -> Result<Vec<HistoryEntry>, HistoryError> {
        let records = self.scan()?.records.into_iter();
        Ok(records
            .flat_map(|(record, _)| match record {
                HistoryLine::Batch { entries, .. } => entries,
                HistoryLine::Rotated { .. } => Vec::new(),
            })
            .collect())
    }

    /// Seals every line again under a new key and destroys the old one: a copy of the old key opens old copies
    /// of the file and nothing else.
    ///
    /// The new file replaces the old one at once, and its last line names the head before: a crash before the
    /// journal has the new head does no harm. After a failure the history must be opened again, because only
    /// the file system knows which file is in place.
    pub fn rotate(mut self) -> Result<Self, HistoryError> {
        let old = self.sealer.key;
        let new = old.saturating_add(1);
        let secret = self.keys.create_session_key(self.name, new)?;
        let sealer = LineSealer::new(&self.session, new, &secret);
        let scan = self.scan()?;
        let rotated = HistoryLine::Rotated { from: self.head };
        let mut head = HistoryHead::default();
        let mut text = Vec::new();
        let records = scan.records.iter().map(|(record, _)| record);
        for record in records.chain([&rotated]) {
            let (line, next) = sealer.seal(head, record)?;
            text.extend(line);
            head = next;
        }
        let bytes = check_size(text.len() as u64)?;
        private_files::write_whole(&self.path, &text)?;
        // The old handle still points to the replaced file.
        self.file = private_files::open_or_create(&self.path)?;
        self.sealer = sealer;
        self.bytes = bytes;
        self.head = head;
        // Earlier ones may have been left by a crash.
        for key in FIRST_KEY..=old {
            self.keys.destroy_session_key(self.name, key)?;
        }
        Ok(self)
    }

    fn scan(&mut self) -> Result<HistoryScan, HistoryError> {
        let text = read_whole(&mut self.file, &self.path)?;
        scan(&text, &self.sealer, self.head)
    }

    /// Writes after the last whole line, over anything that a crash or a full disk left there.
    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        self.file.set_len(self.bytes)?;
        self.file.seek(SeekFrom::Start(self.bytes))?;
        self.file.write_all(line)?;
        self.file.sync_all()
    }
}

/// Chooses the key named by the file's first line. Without such a line the session is new.
fn sealer(
    text: &[u8],
    session: &str,
    name: Digest,
    keys: &KeyRing,
) -> Result<LineSealer, HistoryError> {
    let first = text.split_inclusive(|byte| *byte == b'\n').next();
    let first = first.and_then(|line| line.strip_suffix(b"\n"));
    let Some(first) = first.filter(|line| !has_hole(line)) else {
        let secret = keys.create_session_key(name, FIRST_KEY)?;
        return Ok(LineSealer::new(session, FIRST_KEY, &secret));
    };
    let key = SealedLine::read(first, 1)?.key;
    let missing = HistoryError::MissingKey { line: 1, key };
    let secret = keys.session_key(name, key)?.ok_or(missing)?;
    Ok(LineSealer::new(session, key, &secret))
}

fn batches(scan: &HistoryScan) -> HashSet<String> {
    let records = scan.records.iter();
    records
        .filter_map(|(record, _)| match record {
            HistoryLine::Batch { key, .. } => Some(key.clone()),
            HistoryLine::Rotated { .. } => None,
        })
        .collect()
}

fn lock(path: &Path) -> Result<File, HistoryError> {
    let file = private_files::open_or_create(path)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(HistoryError::Owned),
        Err(TryLockError::Error(error)) => Err(StoreError::io("lock", path, error).into()),
    }
}

fn read_whole(file: &mut File, path: &Path) -> Result<Vec<u8>, HistoryError> {
    let mut text = Vec::new();
    file.seek(SeekFrom::Start(0))
        .and_then(|_| file.take(HISTORY_BYTES_MAX + 1).read_to_end(&mut text))
        .map_err(|error| StoreError::io("read", path, error))?;
    check_size(text.len() as u64)?;
    Ok(text)
}

const fn check_size(bytes: u64) -> Result<u64, HistoryError> {
    let max = HISTORY_BYTES_MAX;
    if bytes > max {
        return Err(HistoryError::TooLarge { bytes, max });
    }
    Ok(bytes)
}
