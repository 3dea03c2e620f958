//! Rows in a file, on `SQLite`.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::{
    Connection, OptionalExtension as _, Row as Columns, Transaction, TransactionBehavior, params,
};

use super::backend::{
    BackendResult, FORMAT, RowCommit, RowDraft, RowKind, SymbolBackend, SymbolRow, WrittenBy,
    bytes_of, numbers_of,
};
use super::error::SymbolStoreError;
use crate::error::StoreError;
use crate::sqlite_file::shared::{self, SyncMode, make_tables};

const TABLES: &str = "
CREATE TABLE rows (
    seq INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    born INTEGER NOT NULL,
    body TEXT,
    key TEXT UNIQUE,
    request TEXT,
    UNIQUE (kind, id, version)
) STRICT;
CREATE TRIGGER rows_stay_as_they_are BEFORE UPDATE ON rows
BEGIN SELECT RAISE(ABORT, 'a version is never changed'); END;
CREATE TRIGGER rows_stay BEFORE DELETE ON rows
BEGIN SELECT RAISE(ABORT, 'a version is never removed'); END;
CREATE TABLE newest (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX newest_by_seq ON newest (kind, seq);
CREATE TABLE vectors (
    seq INTEGER PRIMARY KEY,
    model TEXT NOT NULL,
    vector BLOB NOT NULL
) STRICT;
";

const COLUMNS: &str = "seq, kind, id, version, born, body, key, request";

pub(super) struct SqliteRows {
    path: PathBuf,
    connection: Mutex<Connection>,
}

impl SqliteRows {
    /// Uses the file, which is made when it is not there.
    pub(super) fn open(path: &Path) -> BackendResult<Self> {
        let wrap = |source: StoreError| file_error(path, source);
        let connection = shared::open(path, SyncMode::PowerCut).map_err(wrap)?;
        let rows = Self {
            path: path.to_owned(),
            connection: Mutex::new(connection),
        };
        let found = rows.write(|within| make_tables(within, TABLES, FORMAT))?;
        if found != FORMAT {
            return Err(SymbolStoreError::NewerFormat {
                found,
                known: FORMAT,
            });
        }
        Ok(rows)
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        // Nothing half done is left behind: a transaction that was not committed is rolled back.
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn read<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> BackendResult<T> {
        work(&self.lock()).map_err(|error| file_error(&self.path, error.into()))
    }

    fn write<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> BackendResult<T> {
        let mut connection = self.lock();
        let whole = || {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = work(&transaction)?;
            transaction.commit()?;
            Ok(done)
        };
        whole().map_err(|error: rusqlite::Error| file_error(&self.path, error.into()))
    }
}

fn file_error(path: &Path, source: StoreError) -> SymbolStoreError {
    SymbolStoreError::File {
        path: path.to_owned(),
        source,
    }
}

fn row_of(columns: &Columns<'_>) -> rusqlite::Result<SymbolRow> {
    let name: String = columns.get(1)?;
    let kind = RowKind::ALL.into_iter().find(|kind| kind.name() == name);
    let key: Option<String> = columns.get(6)?;
    let request: Option<String> = columns.get(7)?;
    Ok(SymbolRow {
        seq: columns.get(0)?,
        kind: kind.ok_or(rusqlite::Error::InvalidColumnType(
            1,
            name,
            rusqlite::types::Type::Text,
        ))?,
        id: columns.get(2)?,
        version: columns.get(3)?,
        born: columns.get(4)?,
        body: columns.get(5)?,
        by: key
            .zip(request)
            .map(|(key, request)| WrittenBy { key, request }),
    })
}

fn newest_seq(
    transaction: &Transaction<'_>,
    kind: RowKind,
    id: &str,
) -> rusqlite::Result<Option<u64>> {
    transaction
        .prepare_cached("SELECT seq FROM newest WHERE kind = ?1 AND id = ?2")?
        .query_row((kind.name(), id), |row| row.get(0))
        .optional()
}

fn is_applied(transaction: &Transaction<'_>, key: &str) -> rusqlite::Result<bool> {
    transaction
        .prepare_cached("SELECT 1 FROM rows WHERE key = ?1")?
        .exists([key])
}

fn insert(
    transaction: &Transaction<'_>,
    draft: &RowDraft,
    row: &SymbolRow,
) -> rusqlite::Result<()> {
    let kind = row.kind.name();
    transaction
        .prepare_cached(&format!(
            "INSERT INTO rows ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
        ))?
        .execute(params![
            row.seq,
            kind,
            row.id,
            row.version,
            row.born,
            row.body,
            row.by.as_ref().map(|by| &by.key),
            row.by.as_ref().map(|by| &by.request),
        ])?;
    transaction
        .prepare_cached("INSERT OR REPLACE INTO newest VALUES (?1, ?2, ?3)")?
        .execute((kind, &row.id, row.seq))?;
    if let Some(before) = draft.follows {
        transaction
            .prepare_cached("DELETE FROM vectors WHERE seq = ?1")?
            .execute([before.seq])?;
    }
    match &draft.vector {
        Some(vector) => keep_vector(transaction, row.seq, &vector.model, &vector.numbers),
        None => Ok(()),
    }
}

/// Stores a vector, unless its row is no longer the newest.
fn keep_vector(
    transaction: &Transaction<'_>,
    seq: u64,
    model: &str,
    numbers: &[f32],
) -> rusqlite::Result<()> {
    let keep = "INSERT OR REPLACE INTO vectors SELECT seq, ?2, ?3 FROM newest \
                WHERE kind = 'symbol' AND seq = ?1";
    transaction
        .prepare_cached(keep)?
        .execute((seq, model, bytes_of(numbers)))?;
    Ok(())
}

impl SymbolBackend for SqliteRows {
    fn applied(&self, key: &str) -> BackendResult<Option<SymbolRow>> {
        self.read(|connection| {
            connection
                .prepare_cached(&format!("SELECT {COLUMNS} FROM rows WHERE key = ?1"))?
                .query_row([key], row_of)
                .optional()
        })
    }

    fn newest(&self, kind: RowKind, ids: &[&str]) -> BackendResult<Vec<Option<SymbolRow>>> {
        let select = format!(
            "SELECT {COLUMNS} FROM rows WHERE seq = (SELECT seq FROM newest WHERE kind = ?1 AND id = ?2)"
        );
        self.read(|connection| {
            let mut select = connection.prepare_cached(&select)?;
            ids.iter()
                .map(|id| select.query_row((kind.name(), id), row_of).optional())
                .collect()
        })
    }

    fn after(&self, kind: RowKind, seq: u64, max: usize) -> BackendResult<Vec<SymbolRow>> {
        let select = format!(
            "SELECT {COLUMNS} FROM rows WHERE seq IN \
             (SELECT seq FROM newest WHERE kind = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3) ORDER BY seq"
        );
        self.read(|connection| {
            connection
                .prepare_cached(&select)?
                .query_map((kind.name(), seq, max), row_of)?
                .collect()
        })
    }

    fn versions(&self, kind: RowKind, id: &str) -> BackendResult<Vec<SymbolRow>> {
        let select =
            format!("SELECT {COLUMNS} FROM rows WHERE kind = ?1 AND id = ?2 ORDER BY version");
        self.read(|connection| {
            connection
                .prepare_cached(&select)?
                .query_map((kind.name(), id), row_of)?
                .collect()
        })
    }

    fn commit(&self, drafts: &[RowDraft]) -> BackendResult<RowCommit> {
        self.write(|transaction| {
            for draft in drafts {
                let newest = newest_seq(transaction, draft.kind, &draft.id)?;
                let applied = match &draft.by {
                    Some(by) => is_applied(transaction, &by.key)?,
                    None => false,
                    // Within the transaction, so that no other process can commit between the check and the insert.
                };
                if applied || newest != draft.follows.map(|before| before.seq) {
                    return Ok(RowCommit::Stale);
                }
            }
            let last: u64 =
                transaction.query_row("SELECT coalesce(max(seq), 0) FROM rows", [], |row| {
                    row.get(0)
                })?;
            let mut rows = Vec::with_capacity(drafts.len());
            for (draft, seq) in drafts.iter().zip(last + 1..) {
                let row = draft.row(seq);
                insert(transaction, draft, &row)?;
                rows.push(row);
            }
            Ok(RowCommit::Done(rows))
        })
    }

    fn vectors(&self, model: &str, seqs: &[u64]) -> BackendResult<Vec<Option<Vec<f32>>>> {
        let select = "SELECT vector FROM vectors WHERE seq = ?1 AND model = ?2";
        self.read(|connection| {
            let mut select = connection.prepare_cached(select)?;
            seqs.iter()
                .map(|seq| {
                    let bytes: Option<Vec<u8>> = select
                        .query_row((seq, model), |row| row.get(0))
                        .optional()?;
                    Ok(bytes.and_then(|bytes| numbers_of(&bytes)))
                })
                .collect()
        })
    }

    fn keep_vectors(&self, model: &str, vectors: &[(u64, Vec<f32>)]) -> BackendResult<()> {
        self.write(|transaction| {
            for (seq, numbers) in vectors {
                keep_vector(transaction, *seq, model, numbers)?;
            }
            Ok(())
        })
    }
}
