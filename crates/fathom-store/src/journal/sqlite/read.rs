//! Reading: short queries on connections of their own, which never wait for the writer.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use fathom_core::effect::IdempotencyKey;
use fathom_core::id::{Digest, Epoch, RunId, Seq};
use fathom_core::journal::event::Signal;
use fathom_core::unit::Timestamp;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, params};
use serde::de::DeserializeOwned;

use super::columns::SqlValue;
use super::{schema, tables};
use crate::error::StoreError;
use crate::journal::idempotency::KeyClaim;
use crate::journal::run_list::{RunFilter, RunInfo, RunQuery, RunState, id_digits};
use crate::journal::signals::{PostedSignal, SignalId};
use crate::journal::{JournalCursor, StoredRecord};

/// Connections kept for later readers.
const IDLE_MAX: usize = 8;
/// Bytes after which a page of records is full.
const PAGE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Read-only connections to one file.
pub(super) struct ReaderPool {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
}

impl ReaderPool {
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            idle: Mutex::new(Vec::new()),
        }
    }

    pub(super) fn read<T>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let idle = self.lock().pop();
        let connection = match idle {
            Some(connection) => connection,
            None => self.open()?,
        };
        // Not kept after an error: the connection may be the cause of it.
        let answer = query(&connection)?;
        let mut idle = self.lock();
        if idle.len() < IDLE_MAX {
            idle.push(connection);
        }
        Ok(answer)
    }

    pub(super) fn close(&self) {
        self.lock().clear();
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this is the store: here the journal is opened for reading"
    )]
    fn open(&self) -> Result<Connection, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(&self.path, flags)?;
        schema::configure(&mut connection)?;
        Ok(connection)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn parsed<T: DeserializeOwned>(text: &str, what: &str) -> Result<T, StoreError> {
    serde_json::from_str(text)
        .map_err(|error| StoreError::damaged(format!("{what} cannot be read: {error}")))
}

/// The run's positions come from the index that keeps places unique, and are sorted before anything else is
/// read. An index in this order would cost every commit one more page per run.
pub(super) fn page(
    connection: &Connection,
    run: RunId,
    after: JournalCursor,
    limit: usize,
) -> Result<Vec<StoredRecord>, StoreError> {
    let mut query = connection.prepare_cached(
        "SELECT position, episode, seq, body, hash FROM events WHERE position IN
             (SELECT position FROM events WHERE run = ?1 AND position > ?2 ORDER BY position LIMIT ?3)
         ORDER BY position",
    )?;
    let mut rows = query.query(params![
        SqlValue(run),
        SqlValue(after.0),
        SqlValue(limit as u64)
    ])?;
    let mut page = Vec::new();
    let mut bytes = 0;
    while let Some(row) = rows.next()? {
        let stored = stored(row)?;
        bytes += stored.bytes.len();
        page.push(stored);
        if bytes >= PAGE_BYTES_MAX {
            break;
        }
    }
    Ok(page)
}

fn stored(row: &Row<'_>) -> rusqlite::Result<StoredRecord> {
    let SqlValue(position) = row.get(0)?;
    let SqlValue(episode) = row.get(1)?;
    let SqlValue(seq) = row.get(2)?;
    let SqlValue(hash) = row.get(4)?;
    Ok(StoredRecord {
        cursor: JournalCursor(position),
        episode,
        seq: Seq(seq),
        bytes: row.get(3)?,
        hash,
    })
}

const INFO_COLUMNS: &str =
    "run, epoch, state, program, model, created_at, updated_at, events, episodes,
    model_calls, started_by";

/// A line of the list with its state still as text.
fn info_row(row: &Row<'_>) -> rusqlite::Result<(String, RunInfo)> {
    let count = |at| row.get(at).map(|SqlValue(count): SqlValue<u64>| count);
    let SqlValue(run) = row.get(0)?;
    let info = RunInfo {
        run,
        epoch: Epoch(count(1)?),
        state: RunState::Running,
        program: row.get(3)?,
        model: row.get(4)?,
        created_at: Timestamp(count(5)?),
        updated_at: Timestamp(count(6)?),
        events: count(7)?,
        episodes: count(8)?,
        model_calls: count(9)?,
        started_by: row.get(10)?,
    };
    Ok((row.get(2)?, info))
}

fn with_state((state, info): (String, RunInfo)) -> Result<RunInfo, StoreError> {
    Ok(RunInfo {
        state: parsed(&state, "the state of a run")?,
        ..info
    })
}

pub(super) fn run_info(connection: &Connection, run: RunId) -> Result<Option<RunInfo>, StoreError> {
    let found = connection
        .prepare_cached(&format!("SELECT {INFO_COLUMNS} FROM runs WHERE run = ?1"))?
        .query_row([SqlValue(run)], info_row)
        .optional()?;
    found.map(with_state).transpose()
}

pub(super) fn list_runs(
    connection: &Connection,
    query: &RunQuery,
) -> Result<Vec<RunInfo>, StoreError> {
    // `?1` is bound in every case, so that all filters share one list of parameters.
    let (wanted, id_start) = match &query.filter {
        RunFilter::All => ("?1 = ''", String::new()),
        RunFilter::Unfinished => ("?1 = '' AND is_finished = 0", String::new()),
        RunFilter::Finished => ("?1 = '' AND is_finished = 1", String::new()),
        RunFilter::IdStartsWith(start) => (
            "substr(lower(hex(run)), 1, length(?1)) = ?1",
            id_digits(start),
        ),
    };
    let sql = format!(
        "SELECT {INFO_COLUMNS} FROM runs WHERE {wanted} ORDER BY created_at DESC, run DESC LIMIT ?2"
    );
    let mut query_runs = connection.prepare_cached(&sql)?;
    let rows = query_runs.query_map(params![id_start, SqlValue(query.limit() as u64)], info_row)?;
    rows.map(|row| with_state(row?)).collect()
}

pub(super) fn run_ids(connection: &Connection) -> Result<Vec<RunId>, StoreError> {
    let mut query = connection
        .prepare_cached("SELECT run FROM runs UNION SELECT run FROM events ORDER BY 1")?;
    let rows = query.query_map([], |row| row.get(0).map(|SqlValue(run)| run))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn blob(
    connection: &Connection,
    run: RunId,
    address: &Digest,
) -> Result<Option<Vec<u8>>, StoreError> {
    let blob = connection
        .prepare_cached("SELECT body FROM blobs WHERE run = ?1 AND address = ?2")?
        .query_row(params![SqlValue(run), SqlValue(*address)], |row| row.get(0))
        .optional()?;
    Ok(blob)
}

pub(super) fn blob_count(connection: &Connection) -> Result<u64, StoreError> {
    let SqlValue(count) = connection
        .prepare_cached("SELECT count(*) FROM blobs")?
        .query_row([], |row| row.get(0))?;
    Ok(count)
}

pub(super) fn signals(
    connection: &Connection,
    run: RunId,
    after: SignalId,
) -> Result<Vec<PostedSignal>, StoreError> {
    let mut query = connection
        .prepare_cached("SELECT id, body FROM signals WHERE run = ?1 AND id > ?2 ORDER BY id")?;
    let mut rows = query.query(params![SqlValue(run), SqlValue(after.0)])?;
    let mut signals = Vec::new();
    while let Some(row) = rows.next()? {
        let SqlValue(id) = row.get(0)?;
        let body: String = row.get(1)?;
        let signal: Signal = parsed(&body, "a signal")?;
        signals.push(PostedSignal {
            id: SignalId(id),
            signal,
        });
    }
    Ok(signals)
}

pub(super) fn claim_of(
    connection: &Connection,
    key: &IdempotencyKey,
) -> Result<Option<KeyClaim>, StoreError> {
    let held = tables::held(connection, key)?;
    Ok(held.map(|held| KeyClaim {
        key: key.clone(),
        payload: held.payload,
        owner: held.owner,
        at: held.at,
    }))
}
