//! An incomplete file: hashed while it is written, and complete only if size and hash are right.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::blocking_task::ProgressTicker;
use super::digest::Sha256Digest;
use super::error::{SourceFailure, WeightsError};
use super::source::{FetchJob, FetchStop, remove};

/// Size of reads and writes.
pub(super) const BUFFER_BYTES: usize = 256 * 1024;

/// The start of a file.
pub(super) struct PartialFile {
    job: FetchJob,
    file: File,
    hasher: Sha256,
    bytes: u64,
}

impl PartialFile {
    /// Resumes a part left by an earlier attempt, or starts a new one.
    pub(super) fn go_on(job: &FetchJob, ticker: &ProgressTicker) -> Result<Self, WeightsError> {
        let mut part = Self::open(job)?;
        // More than the file has, so none of it can be right.
        if job.part_bytes() > job.file.bytes {
            part.begin_again()?;
            return Ok(part);
        }
        let path = job.part_path();
        let (hasher, bytes) =
            hash_rest(&mut part.file, ticker).map_err(|error| job.io(&path, error))?;
        (part.hasher, part.bytes) = (hasher, bytes);
        Ok(part)
    }

    /// Starts over, whatever an earlier attempt left.
    pub(super) fn begin(job: &FetchJob) -> Result<Self, WeightsError> {
        let mut part = Self::open(job)?;
        part.begin_again()?;
        Ok(part)
    }

    fn open(job: &FetchJob) -> Result<Self, WeightsError> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let path = job.part_path();
        let file = options.open(&path).map_err(|error| job.io(&path, error))?;
        Ok(Self {
            job: job.clone(),
            file,
            hasher: Sha256::new(),
            bytes: 0,
        })
    }

    /// Discards the content.
    pub(super) fn begin_again(&mut self) -> Result<(), WeightsError> {
        let emptied = self.file.set_len(0);
        let emptied = emptied.and_then(|()| self.file.seek(SeekFrom::Start(0)));
        emptied.map_err(|error| self.here(error))?;
        (self.hasher, self.bytes) = (Sha256::new(), 0);
        Ok(())
    }

    /// Size so far.
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Appends a piece. Anything beyond the file's size is refused before it is written.
    pub(super) fn write(&mut self, piece: &[u8]) -> Result<(), FetchStop> {
        let bytes = self.bytes + piece.len() as u64;
        if bytes > self.job.file.bytes {
            return Err(self.wrong_size(bytes));
        }
        self.file
            .write_all(piece)
            .map_err(|error| self.here(error))?;
        self.hasher.update(piece);
        self.bytes = bytes;
        Ok(())
    }

    /// Checks that the part is the file, and flushes it to disk. A wrong one is removed.
    pub(super) fn finish(self) -> Result<(), FetchStop> {
        if self.bytes != self.job.file.bytes {
            let wrong = self.wrong_size(self.bytes);
            remove(&self.job.part_path());
            return Err(wrong);
        }
        // Before it gets its name: a power loss must not leave a named file without content.
        self.file.sync_all().map_err(|error| self.here(error))?;
        let found = Sha256Digest::taken(self.hasher);
        if found != self.job.file.sha256 {
            remove(&self.job.part_path());
            return Err(FetchStop::Source(SourceFailure::WrongHash {
                sha256: found.to_string(),
            }));
        }
        Ok(())
    }

    fn wrong_size(&self, bytes: u64) -> FetchStop {
        FetchStop::Source(SourceFailure::WrongSize {
            bytes,
            expected_bytes: self.job.file.bytes,
        })
    }

    fn here(&self, error: io::Error) -> WeightsError {
        self.job.io(&self.job.part_path(), error)
    }
}

/// The hash of a whole file.
pub(super) fn hash_file(path: &Path, ticker: &ProgressTicker) -> io::Result<Sha256Digest> {
    let (hasher, _) = hash_rest(&mut File::open(path)?, ticker)?;
    Ok(Sha256Digest::taken(hasher))
}

fn hash_rest(file: &mut File, ticker: &ProgressTicker) -> io::Result<(Sha256, u64)> {
    let mut hasher = Sha256::new();
    let mut bytes = 0;
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let read = file.read(&mut buffer)?;
        let Some(piece) = buffer.get(..read).filter(|piece| !piece.is_empty()) else {
            return Ok((hasher, bytes));
        };
        hasher.update(piece);
        bytes += read as u64;
        ticker.tick(bytes)?;
    }
}
