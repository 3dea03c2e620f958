//! The key ring: one key per run, which opens its texts, one per session for its history, and one that signs the heads
//! of chains.

pub(crate) mod signatures;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use ed25519_dalek::SigningKey;
use fathom_core::id::{Digest, RunId};
use zeroize::Zeroizing;

use crate::error::StoreError;
use crate::journal::seal::{KEY_BYTES, RunKey, TextSealer};
use crate::private_files::{self, DestroyOutcome, FILE_MODE, FOLDER_MODE};

/// A folder of keys. Whoever can read it can read every run.
#[derive(Clone, Debug)]
pub struct KeyRing {
    folder: PathBuf,
}

/// Outcome of a shred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShredOutcome {
    /// The key is gone, and with it every text of the run.
    Now,
    /// There was no key.
    Before,
}

impl KeyRing {
    /// Uses the folder, which is made when it is not there, and refused when others can look into it.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let folder = folder.into();
        private_files::create_folder(&folder)?;
        private_files::check_private(&folder, FOLDER_MODE)?;
        Ok(Self { folder })
    }

    /// Makes the key of a new run. One that is there already is used again.
    pub fn create_run_key(&self, run: RunId) -> Result<RunKey, StoreError> {
        let path = self.run_key_path(run);
        self.load_or_create(&path)
            .map(|bytes| RunKey::from_bytes(*bytes))
    }

    /// The key of a run; none when the run was shredded.
    pub fn run_key(&self, run: RunId) -> Result<Option<RunKey>, StoreError> {
        let key = load(&self.run_key_path(run))?;
        Ok(key.map(|bytes| RunKey::from_bytes(*bytes)))
    }

    /// The sealer of a run's texts; `None` if the run was shredded.
    pub fn sealer(&self, run: RunId) -> Result<Option<TextSealer>, StoreError> {
        Ok(self.run_key(run)?.map(|key| TextSealer::new(run, &key)))
    }

    /// True if the key of a run is destroyed.
    pub fn is_shredded(&self, run: RunId) -> Result<bool, StoreError> {
        Ok(load(&self.run_key_path(run))?.is_none())
    }

    /// The key that signs heads, made on first use.
    pub fn signing_key(&self) -> Result<SigningKey, StoreError> {
        let bytes = self.load_or_create(&self.folder.join("signing.key"))?;
        Ok(SigningKey::from_bytes(&bytes))
    }

    /// The secret that makes keys of requests, so that nobody can guess what was asked; made on first use.
    pub(crate) fn answers_secret(&self) -> Result<RunKey, StoreError> {
        let bytes = self.load_or_create(&self.folder.join("answers.key"))?;
        Ok(RunKey::from_bytes(*bytes))
    }

    /// The secret that makes file names of session ids, so that nobody can guess which sessions there are; made on
    /// first use.
    pub(crate) fn sessions_secret(&self) -> Result<RunKey, StoreError> {
        let bytes = self.load_or_create(&self.folder.join("sessions.key"))?;
        Ok(RunKey::from_bytes(*bytes))
    }

    /// The secret that seals the records of the domains; made on first use.
    pub(crate) fn domains_secret(&self) -> Result<RunKey, StoreError> {
        let bytes = self.load_or_create(&self.folder.join("domains.key"))?;
        Ok(RunKey::from_bytes(*bytes))
    }

    /// Makes a key of a session's history. One that is there already is used again.
    pub(crate) fn create_session_key(
        &self,
        session: Digest,
        generation: u32,
    ) -> Result<RunKey, StoreError> {
        let path = self.session_key_path(session, generation);
        self.load_or_create(&path)
            .map(|bytes| RunKey::from_bytes(*bytes))
    }

    /// A key of a session's history; none when it is not there any more.
    pub(crate) fn session_key(
        &self,
        session: Digest,
        generation: u32,
    ) -> Result<Option<RunKey>, StoreError> {
        let key = load(&self.session_key_path(session, generation))?;
        Ok(key.map(|bytes| RunKey::from_bytes(*bytes)))
    }

    /// Destroys a key of a session's history.
    pub(crate) fn destroy_session_key(
        &self,
        session: Digest,
        generation: u32,
    ) -> Result<(), StoreError> {
        private_files::destroy(&self.session_key_path(session, generation)).map(drop)
    }

    fn session_key_path(&self, session: Digest, generation: u32) -> PathBuf {
        self.folder
            .join(format!("session-{session}-{generation}.key"))
    }

    /// Destroys a run's key: its texts can never be read again, its chain can still be verified.
    ///
    /// The file is overwritten before it is removed. A disk that copies on write, or a backup, may still hold it.
    pub fn shred(&self, run: RunId) -> Result<ShredOutcome, StoreError> {
        Ok(match private_files::destroy(&self.run_key_path(run))? {
            DestroyOutcome::Now => ShredOutcome::Now,
            DestroyOutcome::WasNotThere => ShredOutcome::Before,
        })
    }

    fn run_key_path(&self, run: RunId) -> PathBuf {
        self.folder.join(format!("{run}.key"))
    }

    /// Two processes that want the same new key get the same one: the second waits and finds it.
    fn load_or_create(&self, path: &Path) -> Result<Zeroizing<[u8; KEY_BYTES]>, StoreError> {
        if let Some(bytes) = load(path)? {
            return Ok(bytes);
        }
        // Looked for again under the lock: another process may have made the key in the meantime.
        let _locked = self.lock()?;
        if let Some(bytes) = load(path)? {
            return Ok(bytes);
        }
        let mut bytes = Zeroizing::new([0; KEY_BYTES]);
        getrandom::fill(bytes.as_mut_slice()).map_err(|_| StoreError::NoRandomness)?;
        private_files::write_whole(path, bytes.as_slice())?;
        Ok(bytes)
    }

    fn lock(&self) -> Result<File, StoreError> {
        let path = self.folder.join("ring.lock");
        let file = private_files::open_or_create(&path)?;
        file.lock()
            .map_err(|error| StoreError::io("lock", &path, error))?;
        Ok(file)
    }
}

/// A secret from a file of 32 random bytes that nobody but its owner can read, wherever it lies.
pub fn read_key_file(path: &Path) -> Result<Zeroizing<[u8; KEY_BYTES]>, StoreError> {
    load(path)?
        .ok_or_else(|| StoreError::io("read", path, io::Error::from(io::ErrorKind::NotFound)))
}

/// A signing key from a file of the same form.
pub(crate) fn read_signing_key(path: &Path) -> Result<SigningKey, StoreError> {
    Ok(SigningKey::from_bytes(&*read_key_file(path)?))
}

fn load(path: &Path) -> Result<Option<Zeroizing<[u8; KEY_BYTES]>>, StoreError> {
    let bytes = match fs::read(path) {
        Ok(bytes) => Zeroizing::new(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(StoreError::io("read", path, error)),
    };
    // After reading, so that a missing key is not an error; an exposed one is refused, since others may have
    // it.
    private_files::check_private(path, FILE_MODE)?;
    let key: Result<[u8; KEY_BYTES], _> = bytes.as_slice().try_into();
    match key {
        // A shred that a crash cut short: overwritten, and not removed any more.
        Ok(key) if key == [0; KEY_BYTES] => Ok(None),
        Ok(key) => Ok(Some(Zeroizing::new(key))),
        Err(_) => Err(StoreError::DamagedKey {
            path: path.to_owned(),
        }),
    }
}
