//! Vectors of texts, kept between runs in a file of their own beside the journal.
//!
//! A cache must never stop a run: what cannot be kept is computed again. A damaged file is set aside and
//! replaced, an unusable one keeps nothing, and both are only logged.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Transaction, TransactionBehavior};

use crate::error::StoreError;
use crate::private_files;

/// Maximum number of vectors: about 160 MB at 384 numbers each.
pub const VECTORS_MAX: u32 = 100_000;

/// Maximum number of dimensions.
const DIMENSIONS_MAX: u32 = 8192;

/// Longest wait for another process that writes.
const BUSY: Duration = Duration::from_secs(5);

/// A vector used within this many openings is not marked as used again, which would cost a write for nothing.
const RECENT_OPENINGS: i64 = 8;

/// The format of the file. A file of another format is replaced.
const FORMAT: i64 = 1;

/// There is no clock here: `used_at` counts how often the file was opened.
const TABLES: &str = "
CREATE TABLE openings (count INTEGER NOT NULL) STRICT;
INSERT INTO openings VALUES (0);
CREATE TABLE vectors (
    hash BLOB PRIMARY KEY,
    model TEXT NOT NULL,
    dims INTEGER NOT NULL,
    vector BLOB NOT NULL,
    used_at INTEGER NOT NULL
) STRICT;
CREATE INDEX vectors_by_use ON vectors (used_at);
";

/// Key of a text: SHA-256 of the text and the model's name.
pub type VectorHash = [u8; 32];

/// Vectors in a file that several processes may share.
#[derive(Debug)]
pub struct VectorCache {
    path: PathBuf,
    vectors_max: u32,
    open: Mutex<Option<OpenCache>>,
}

#[derive(Debug)]
struct OpenCache {
    connection: Connection,
    opening: i64,
}

impl VectorCache {
    /// Uses the file, which is made when it is not there.
    pub fn open(path: &Path) -> Self {
        Self::bounded(path, VECTORS_MAX)
    }

    /// Keeps at most `vectors_max`.
    pub fn bounded(path: &Path, vectors_max: u32) -> Self {
        let cache = Self {
            path: path.to_owned(),
            vectors_max,
            open: Mutex::new(None),
        };
        let opened = open_file(path).or_else(|error| cache.begin_anew(&error));
        *cache.lock() = opened.ok();
        cache
    }

    /// The vectors of a model that are there, in the order of their hashes.
    pub fn get(&self, model: &str, hashes: &[VectorHash]) -> Vec<Option<Vec<f32>>> {
        let found = self.with(|open| {
            // Immediate: marking vectors as used is a write, and a reader cannot become the writer halfway.
            let transaction = open
                .connection
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            let found = hashes
                .iter()
                .map(|hash| find(&transaction, model, hash, open.opening))
                .collect::<Result<Vec<_>, _>>()?;
            transaction.commit()?;
            Ok(found)
        });
        found.unwrap_or_else(|| vec![None; hashes.len()])
    }

    /// Stores vectors of a model; the least recently used make room for them.
    pub fn put(&self, model: &str, vectors: &[(VectorHash, Vec<f32>)]) {
        self.with(|open| {
            let transaction = open
                .connection
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            for (hash, vector) in vectors {
                keep(&transaction, model, hash, vector, open.opening)?;
            }
            make_room(&transaction, self.vectors_max)?;
            transaction.commit()?;
            Ok(())
        });
    }

    /// Works on the file. A failure counts as if nothing had ever been kept.
    fn with<T>(&self, work: impl FnOnce(&mut OpenCache) -> Result<T, StoreError>) -> Option<T> {
        let mut open = self.lock();
        match work(open.as_mut()?) {
            Ok(done) => Some(done),
            Err(error @ StoreError::Damaged { .. }) => {
                // Closed before its file is moved.
                *open = None;
                *open = self.begin_anew(&error).ok();
                None
            }
            Err(error) => {
                tracing::warn!(%error, "the vector cache is not used this time");
                None
            }
        }
    }

    /// Sets a damaged file aside and starts a new one.
    fn begin_anew(&self, error: &StoreError) -> Result<OpenCache, StoreError> {
        tracing::warn!(%error, path = %self.path.display(), "the vector cache is begun anew");
        if let StoreError::Damaged { .. } = error {
            let aside = self.path.with_extension("damaged");
            fs::rename(&self.path, &aside)
                .map_err(|error| StoreError::io("set aside", &self.path, error))?;
            for extension in ["db-wal", "db-shm"] {
                fs::remove_file(self.path.with_extension(extension)).ok();
            }
        }
        open_file(&self.path)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<OpenCache>> {
        // Nothing half done is left behind: a transaction that was not committed is rolled back.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens the file and creates its tables, one process at a time.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the store: here the vector cache is opened"
)]
fn open_file(path: &Path) -> Result<OpenCache, StoreError> {
    let lock_path = path.with_extension("lock");
    let lock = private_files::open_or_create(&lock_path)?;
    lock.lock()
        .map_err(|error| StoreError::io("lock", &lock_path, error))?;
    private_files::create_if_missing(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // What a power loss takes is computed again.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let format: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let tables: i64 =
        transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    match (format, tables) {
        (FORMAT, _) => {}
        (0, 0) => {
            transaction.execute_batch(TABLES)?;
            transaction.pragma_update(None, "user_version", FORMAT)?;
        }
        _ => return Err(StoreError::damaged("the vector cache has another format")),
    }
    let opening = transaction.query_row(
        "UPDATE openings SET count = count + 1 RETURNING count",
        [],
        |row| row.get(0),
    )?;
    transaction.commit()?;
    Ok(OpenCache {
        connection,
        opening,
    })
}

fn find(
    transaction: &Transaction<'_>,
    model: &str,
    hash: &VectorHash,
    opening: i64,
) -> Result<Option<Vec<f32>>, StoreError> {
    let select = "SELECT dims, vector, used_at FROM vectors WHERE hash = ?1 AND model = ?2";
    let found: Option<(u32, Vec<u8>, i64)> = transaction
        .prepare_cached(select)?
        .query_row((hash, model), |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .optional()?;
    let Some((dims, bytes, used_at)) = found else {
        return Ok(None);
    };
    if used_at + RECENT_OPENINGS < opening {
        transaction
            .prepare_cached("UPDATE vectors SET used_at = ?2 WHERE hash = ?1")?
            .execute((hash, opening))?;
    }
    // Cut short or of another model's length: computed again.
    let (numbers, rest) = bytes.as_chunks::<4>();
    if u32::try_from(numbers.len()) != Ok(dims) || !rest.is_empty() {
        return Ok(None);
    }
    Ok(Some(
        numbers
            .iter()
            .map(|four| f32::from_le_bytes(*four))
            .collect(),
    ))
}

fn keep(
    transaction: &Transaction<'_>,
    model: &str,
    hash: &VectorHash,
    vector: &[f32],
    opening: i64,
) -> Result<(), StoreError> {
    let Some(dims) = u32::try_from(vector.len())
        .ok()
        .filter(|dims| *dims <= DIMENSIONS_MAX)
    else {
        return Ok(());
    };
    let bytes: Vec<u8> = vector
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    transaction
        .prepare_cached("INSERT OR REPLACE INTO vectors VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute((hash, model, dims, bytes, opening))?;
    Ok(())
}

/// Drops the least recently used, and a tenth more, so that not every vector costs a cleanup.
fn make_room(transaction: &Transaction<'_>, vectors_max: u32) -> Result<(), StoreError> {
    let count: u32 = transaction.query_row("SELECT count(*) FROM vectors", [], |row| row.get(0))?;
    if count > vectors_max {
        let kept = vectors_max - vectors_max / 10;
        let drop = "DELETE FROM vectors WHERE rowid IN (SELECT rowid FROM vectors ORDER BY used_at, rowid LIMIT ?1)";
        transaction.execute(drop, [count - kept])?;
    }
    Ok(())
}
