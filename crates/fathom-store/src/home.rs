//! The home: the folder that holds a user's journal, keys, heads and locks.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use fathom_core::id::RunId;

use crate::answer_index::AnswerIndex;
use crate::channels::{ChannelStore, ChannelStoreError};
use crate::error::StoreError;
use crate::governance::GovernanceStore;
use crate::history::{HistoryError, HistoryHead, SessionHistoryStore};
use crate::journal::Journal;
use crate::journal::heads::HeadsWriter;
use crate::journal::sqlite::{SqliteJournal, SqliteOptions};
use crate::journal::verify::{JournalVerifier, Verification, VerifyScope};
use crate::keys::{KeyRing, ShredOutcome};
use crate::private_files;
use crate::records::{DomainRecords, RecordStoreError};
use crate::vectors::VectorCache;

/// A user's data folder.
#[derive(Clone, Debug)]
pub struct HomeFolder {
    folder: PathBuf,
    heads: PathBuf,
    keys: KeyRing,
}

impl HomeFolder {
    /// Uses the folder; what is missing in it is made, readable by its owner alone.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let folder = folder.into();
        private_files::create_folder(&folder)?;
        private_files::create_folder(&folder.join("locks"))?;
        Ok(Self {
            heads: folder.join("heads.jsonl"),
            keys: KeyRing::open(folder.join("keys"))?,
            folder,
        })
    }

    /// Keeps signed heads in another file, best on another disk. Its folder must be there.
    #[must_use]
    pub fn with_heads(mut self, file: impl Into<PathBuf>) -> Self {
        self.heads = file.into();
        self
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The journal's file.
    pub fn journal_path(&self) -> PathBuf {
        self.folder.join("journal.db")
    }

    /// The file of symbols, kits and personas.
    pub fn symbols_path(&self) -> PathBuf {
        self.folder.join("symbols.db")
    }

    /// The file of the domains' records.
    pub fn domains_path(&self) -> PathBuf {
        self.folder.join("domains.db")
    }

    /// The file of deliveries, feeds and seeds.
    pub fn channels_path(&self) -> PathBuf {
        self.folder.join("channels.db")
    }

    /// The file of signed heads.
    pub fn heads_path(&self) -> &Path {
        &self.heads
    }

    /// The keys.
    pub fn keys(&self) -> &KeyRing {
        &self.keys
    }

    /// Opens the journal, with its heads signed and kept.
    pub fn open_journal(&self) -> Result<SqliteJournal, StoreError> {
        let options = SqliteOptions {
            heads: Some(HeadsWriter::open(&self.heads, self.keys.signing_key()?)?),
            pages_max: None,
        };
        SqliteJournal::open(&self.journal_path(), options)
    }

    /// Opens the index of earlier answers.
    pub fn open_answers(&self) -> Result<AnswerIndex, StoreError> {
        AnswerIndex::open(&self.folder.join("answers.db"), self.keys.answers_secret()?)
    }

    /// Opens the cache of vectors.
    pub fn open_vectors(&self) -> VectorCache {
        VectorCache::open(&self.folder.join("vectors.db"))
    }

    /// Opens the records of the domains.
    pub fn open_records(&self) -> Result<DomainRecords, RecordStoreError> {
        let path = self.domains_path();
        let secret = self.keys.domains_secret();
        let secret = secret.map_err(|source| RecordStoreError::File {
            path: path.clone(),
            source,
        })?;
        DomainRecords::open(&path, &secret)
    }

    /// Opens the deliveries, feeds and seeds.
    pub fn open_channels(&self) -> Result<ChannelStore, ChannelStoreError> {
        ChannelStore::open(&self.channels_path(), self.keys.clone())
    }

    /// The file of who changed an identity or a charter, and of how stable the stack was.
    pub fn governance_path(&self) -> PathBuf {
        self.folder.join("governance.db")
    }

    /// The record of governance, if anything was ever written to it.
    pub fn open_governance(&self) -> Result<GovernanceStore, StoreError> {
        GovernanceStore::open(&self.governance_path())
    }

    /// The record of governance, if it exists: a command that only reads must not create it.
    pub fn governance_if_there(&self) -> Result<Option<GovernanceStore>, StoreError> {
        if self.governance_path().exists() {
            return self.open_governance().map(Some);
        }
        Ok(None)
    }

    /// Opens the history of a session. `known` is the last head that the journal has of it.
    pub fn open_history(
        &self,
        session: &str,
        known: Option<&HistoryHead>,
    ) -> Result<SessionHistoryStore, HistoryError> {
        SessionHistoryStore::open(&self.folder.join("history"), session, &self.keys, known)
    }

    /// Takes the ownership of a run on this machine; `None` if another process has it. Reading a run needs no
    /// lock.
    pub fn lock_run(&self, run: RunId) -> Result<Option<RunLock>, StoreError> {
        let path = self.folder.join("locks").join(format!("{run}.lock"));
        loop {
            let file = private_files::open_or_create(&path)?;
            match file.try_lock() {
                Ok(()) if is_at(&file, &path)? => return Ok(Some(RunLock { _file: file, path })),
                // The owner before us removed the file between our opening and our locking it.
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => {
                    return Err(StoreError::io("lock", &path, error));
                }
            }
        }
    }

    /// Destroys the key of a run that no process owns. Its texts are lost for good, its chain stays verifiable.
    pub fn shred(&self, run: RunId) -> Result<ShredOutcome, StoreError> {
        // Held until the key is gone: an owner would go on sealing texts with a key that is about to be
        // destroyed.
        let _lock = self.lock_run(run)?.ok_or(StoreError::Owned { run })?;
        self.keys.shred(run)
    }

    /// Verifies runs of this home.
    pub fn verify(
        &self,
        journal: &dyn Journal,
        scope: VerifyScope,
    ) -> Result<Verification, StoreError> {
        let verifier = JournalVerifier {
            journal,
            heads: Some(&self.heads),
            key: &self.keys.signing_key()?.verifying_key(),
            is_shredded: &|run| self.keys.is_shredded(run),
        };
        verifier.verify(scope)
    }
}

/// True if `file` is the file at `path`.
// Device and inode: a path may name a new file while the old one is still open and locked.
fn is_at(file: &File, path: &Path) -> Result<bool, StoreError> {
    let place = |found: fs::Metadata| (found.dev(), found.ino());
    let opened = file.metadata().map(place);
    let opened = opened.map_err(|error| StoreError::io("look at", path, error))?;
    match fs::metadata(path).map(place) {
        Ok(found) => Ok(found == opened),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(StoreError::io("look at", path, error)),
    }
}

/// The ownership of a run on this machine, until dropped. The system takes it back when the process dies.
#[derive(Debug)]
pub struct RunLock {
    _file: File,
    path: PathBuf,
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // While it is still locked, so nobody else's file is removed. One that stays is no harm.
        fs::remove_file(&self.path).ok();
    }
}
