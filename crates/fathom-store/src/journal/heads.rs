//! Signed heads, kept in a second place: a chain cannot see by itself that its tail was cut off.
//!
//! Each line of the file is one head as JSON. Lines are appended under a lock on the file, so several processes
//! can share it. What this proves and what not: whoever holds the signing key and both places can rewrite
//! everything; whoever lacks one of the three cannot change or cut what a head covers without being seen.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use fathom_core::id::{Digest, EpisodeId, RunId, Seq};
use fathom_core::unit::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::error::StoreError;
use crate::private_files::{self, FILE_MODE};

/// Longest line of a heads file.
const LINE_BYTES_MAX: usize = 4096;

const HEAD_TAG: &[u8] = b"fathom/head/1";
// 64 bits: enough to tell the keys of homes apart; what counts is the signature.
const KEY_ID_CHARS: usize = 16;

/// The state of one chain at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainHead {
    pub run: RunId,
    /// The episode whose chain it is.
    pub episode: EpisodeId,
    /// The last record.
    pub seq: Seq,
    pub hash: Digest,
    /// Time at which the run took in the record.
    pub at: Timestamp,
}

impl ChainHead {
    fn message(&self) -> Vec<u8> {
        let episode = self.episode.to_string();
        [
            HEAD_TAG,
            self.run.as_bytes(),
            &(episode.len() as u64).to_be_bytes(),
            episode.as_bytes(),
            &self.seq.0.to_be_bytes(),
            &self.hash.0,
            &self.at.0.to_be_bytes(),
        ]
        .concat()
    }
}

/// A head with the signature of the home it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedHead {
    /// The signed content.
    #[serde(flatten)]
    pub head: ChainHead,
    /// Short name of the signing key.
    pub key: String,
    /// The signature, in hexadecimal digits.
    pub signature: String,
}

impl SignedHead {
    fn new(head: ChainHead, signing: &SigningKey) -> Self {
        let signature = signing.sign(&head.message());
        Self {
            head,
            key: key_id(&signing.verifying_key()),
            signature: format!("{signature:x}"),
        }
    }

    /// True if the holder of `key` signed it.
    pub fn is_signed_by(&self, key: &VerifyingKey) -> bool {
        let signature: Result<Signature, _> = self.signature.parse();
        // Strict: a malleable signature would let different bytes pass for the same head.
        signature.is_ok_and(|signature| key.verify_strict(&self.head.message(), &signature).is_ok())
    }
}

/// A short name of a key.
pub fn key_id(key: &VerifyingKey) -> String {
    let mut id = Digest(Sha256::digest(key.as_bytes()).into()).to_string();
    id.truncate(KEY_ID_CHARS);
    id
}

/// Time by which lines must be on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HeadFlush {
    /// Left to the system.
    Lazily,
    /// Before the call returns.
    Now,
}

/// Signs heads and appends them to a file.
#[derive(Debug)]
pub struct HeadsWriter {
    path: PathBuf,
    signing: SigningKey,
}

impl HeadsWriter {
    /// Uses the file at `path`, which is made when it is not there.
    pub fn open(path: impl Into<PathBuf>, signing: SigningKey) -> Result<Self, StoreError> {
        let path = path.into();
        private_files::create_if_missing(&path)?;
        Ok(Self { path, signing })
    }

    /// Signs and appends all heads. A failure may leave a torn line, which the next append cuts off.
    pub fn append(&self, heads: Vec<ChainHead>, flush: HeadFlush) -> Result<(), StoreError> {
        let mut lines = Vec::new();
        for head in heads {
            let signed = SignedHead::new(head, &self.signing);
            serde_json::to_writer(&mut lines, &signed).map_err(|error| StoreError::NotARecord {
                what: error.to_string(),
            })?;
            lines.push(b'\n');
        }
        self.write(&lines, flush)
            .map_err(|error| StoreError::io("append to", &self.path, error))
    }

    /// The file is opened anew each time, so that a moved or replaced one is noticed.
    fn write(&self, lines: &[u8], flush: HeadFlush) -> io::Result<()> {
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(FILE_MODE)
            .open(&self.path)?;
        file.lock()?;
        // Otherwise the rest of a torn line and the new line would become one.
        cut_torn_line(&mut file)?;
        file.write_all(lines)?;
        match flush {
            HeadFlush::Lazily => Ok(()),
            HeadFlush::Now => file.sync_data(),
        }
    }
}

/// Removes an unfinished line that a crash left. It was never acknowledged.
fn cut_torn_line(file: &mut File) -> io::Result<()> {
    let size = file.metadata()?.len();
    let start = size.saturating_sub(LINE_BYTES_MAX as u64);
    if size == 0 {
        return Ok(());
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    if last == *b"\n" {
        return Ok(());
    }
    file.seek(SeekFrom::Start(start))?;
    let mut tail = Vec::new();
    file.take(LINE_BYTES_MAX as u64).read_to_end(&mut tail)?;
    let whole = match tail.iter().rposition(|byte| *byte == b'\n') {
        Some(newline) => start + newline as u64 + 1,
        None if start == 0 => 0,
        None => {
            let what = "its last line is too long to be a torn head";
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
    };
    file.set_len(whole)
}

/// Content of a heads file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeadsFile {
    /// The heads, in the order of the file.
    pub heads: Vec<SignedHead>,
    /// Numbers of malformed lines, counted from one.
    pub unreadable_lines: Vec<u64>,
    /// State of the file's end.
    pub end: FileEnd,
}

/// States of the end of a heads file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileEnd {
    /// With a whole line.
    #[default]
    Whole,
    /// With a part of one, as a crash leaves it.
    Torn,
    /// There is no file.
    Missing,
}

/// Reads the heads for which `wanted` returns true.
pub fn read_heads(
    path: &Path,
    mut wanted: impl FnMut(&ChainHead) -> bool,
) -> Result<HeadsFile, StoreError> {
    let mut found = HeadsFile::default();
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            found.end = FileEnd::Missing;
            return Ok(found);
        }
        Err(error) => return Err(StoreError::io("open", path, error)),
    };
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let mut limited = reader.by_ref().take(LINE_BYTES_MAX as u64);
        limited
            .read_until(b'\n', &mut line)
            .map_err(|error| StoreError::io("read", path, error))?;
        if line.is_empty() {
            break;
        }
        // A line of the maximum length is too long for a head, so it counts as malformed and not as torn.
        let is_whole = line.ends_with(b"\n") || line.len() == LINE_BYTES_MAX;
        match serde_json::from_slice::<SignedHead>(&line) {
            _ if !is_whole => found.end = FileEnd::Torn,
            Ok(signed) if wanted(&signed.head) => found.heads.push(signed),
            Ok(_) => {}
            Err(_) => found.unreadable_lines.push(number),
        }
    }
    Ok(found)
}
