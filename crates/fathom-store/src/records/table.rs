//! The table of records, on `SQLite`: rows that are only ever added.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use fathom_core::domain::records::{DomainRecord, RecordAuthor, RecordKind, RecordPointer};
use fathom_core::unit::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior};

use super::error::{RecordStoreError, RecordsResult};
use super::seal::{RecordContent, RecordSealer};
use crate::error::StoreError;
use crate::journal::seal::RunKey;
use crate::sqlite_file::shared::{self, SyncMode, make_tables};

const FORMAT: u64 = 1;

/// The trigger on inserts also keeps `INSERT OR REPLACE` from taking a row's place.
const TABLES: &str = "
CREATE TABLE records (
    seq INTEGER PRIMARY KEY,
    domain TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    author TEXT NOT NULL,
    content BLOB NOT NULL,
    capsule BLOB,
    key TEXT UNIQUE,
    request BLOB,
    UNIQUE (domain, kind, id, version)
) STRICT;
CREATE INDEX records_of_kind ON records (domain, kind, seq);
CREATE INDEX records_by_capsule ON records (capsule) WHERE capsule IS NOT NULL;
CREATE TRIGGER records_stay_as_they_are BEFORE UPDATE ON records
BEGIN SELECT RAISE(ABORT, 'a record is never changed'); END;
CREATE TRIGGER records_stay BEFORE DELETE ON records
BEGIN SELECT RAISE(ABORT, 'a record is never removed'); END;
CREATE TRIGGER records_are_added BEFORE INSERT ON records
WHEN NEW.version <> 1 + (SELECT coalesce(max(version), 0) FROM records
        WHERE domain = NEW.domain AND kind = NEW.kind AND id = NEW.id)
    OR NEW.seq <> 1 + (SELECT coalesce(max(seq), 0) FROM records)
    OR EXISTS (SELECT 1 FROM records WHERE key = NEW.key)
BEGIN SELECT RAISE(ABORT, 'a record never takes the place of another'); END;
";

const COLUMNS: &str = "seq, kind, id, version, at_ms, author, content";

/// Condition for a version without a successor.
const NEWEST: &str = "NOT EXISTS (SELECT 1 FROM records AS later WHERE later.domain = records.domain \
    AND later.kind = records.kind AND later.id = records.id AND later.version = records.version + 1)";

pub(super) struct RecordTable {
    path: PathBuf,
    connection: Mutex<Connection>,
    pub(super) sealer: RecordSealer,
}

/// The request that wrote a row.
pub(super) struct WrittenBy {
    pub(super) key: String,
    pub(super) request: [u8; 32],
}

/// A row before it has a number.
pub(super) struct NewRow<'a> {
    pub(super) kind: RecordKind,
    pub(super) id: &'a str,
    pub(super) at: Timestamp,
    pub(super) author: &'a RecordAuthor,
    pub(super) content: &'a RecordContent,
    pub(super) capsule: Option<[u8; 32]>,
    pub(super) by: Option<&'a WrittenBy>,
}

impl RecordTable {
    /// Uses the file, which is made when it is not there.
    pub(super) fn open(path: &Path, secret: &RunKey) -> RecordsResult<Self> {
        let connection = shared::open(path, SyncMode::PowerCut)
            .map_err(|error| RecordStoreError::file(path, error))?;
        let table = Self {
            path: path.to_owned(),
            connection: Mutex::new(connection),
            sealer: RecordSealer::new(secret),
        };
        let found = table.write(|within| Ok(make_tables(within.transaction, TABLES, FORMAT)?))?;
        if found != FORMAT {
            return Err(RecordStoreError::NewerFormat {
                found,
                known: FORMAT,
            });
        }
        Ok(table)
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        // Nothing half done is left behind: a transaction that was not committed is rolled back.
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads from one state of the table.
    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&RecordTransaction<'_>) -> AppendOutcome<T>,
    ) -> RecordsResult<T> {
        self.within(TransactionBehavior::Deferred, work)
    }

    /// Writes all or nothing, excluding other writers.
    pub(super) fn write<T>(
        &self,
        work: impl FnOnce(&RecordTransaction<'_>) -> AppendOutcome<T>,
    ) -> RecordsResult<T> {
        self.within(TransactionBehavior::Immediate, work)
    }

    fn within<T>(
        &self,
        behaviour: TransactionBehavior,
        work: impl FnOnce(&RecordTransaction<'_>) -> AppendOutcome<T>,
    ) -> RecordsResult<T> {
        let mut connection = self.lock();
        let whole = || {
            let transaction = connection.transaction_with_behavior(behaviour)?;
            let done = work(&RecordTransaction {
                transaction: &transaction,
                sealer: &self.sealer,
            })?;
            transaction.commit()?;
            Ok(done)
        };
        whole().map_err(|trouble: TransactionError| match trouble {
            TransactionError::Store(source) => RecordStoreError::file(&self.path, source),
            TransactionError::Refused(error) => error,
        })
    }
}

/// Reasons for abandoning a transaction.
pub(super) enum TransactionError {
    Store(StoreError),
    Refused(RecordStoreError),
}

pub(super) type AppendOutcome<T> = std::result::Result<T, TransactionError>;

impl From<rusqlite::Error> for TransactionError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(error.into())
    }
}

impl From<StoreError> for TransactionError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// One transaction.
pub(super) struct RecordTransaction<'a> {
    transaction: &'a Transaction<'a>,
    sealer: &'a RecordSealer,
}

impl RecordTransaction<'_> {
    /// The version that a key wrote before, and the hash of its request.
    pub(super) fn applied(&self, key: &str) -> AppendOutcome<Option<(RecordPointer, [u8; 32])>> {
        let found = self
            .transaction
            .prepare_cached("SELECT kind, id, version, request FROM records WHERE key = ?1")?
            .query_row([key], |row| {
                Ok((
                    row.get::<_, String>(0)?,
                    row.get(1)?,
                    row.get(2)?,
                    row.get(3)?,
                ))
            })
            .optional()?;
        found
            .map(|(kind, id, version, request)| {
                let version = Some(version);
                let kind = kind_of(&kind)?;
                Ok((RecordPointer { kind, id, version }, request))
            })
            .transpose()
    }

    /// True if the record exists in the named version, or at all.
    pub(super) fn is_there(&self, at: &RecordPointer) -> AppendOutcome<bool> {
        let select =
            "SELECT 1 FROM records WHERE domain = ?1 AND kind = ?2 AND id = ?3 AND version = ?4";
        let mut select = self.transaction.prepare_cached(select)?;
        // A record that exists has a first version.
        let version = at.version.unwrap_or(1);
        Ok(select.exists((at.kind.domain(), at.kind.to_string(), &at.id, version))?)
    }

    /// A version of a record; the newest where the pointer names none.
    pub(super) fn one(&self, at: &RecordPointer) -> AppendOutcome<Option<DomainRecord>> {
        let found = self.select(
            "domain = ?1 AND kind = ?2 AND id = ?3 AND version = coalesce(?4, (SELECT max(version) FROM records \
             WHERE domain = ?1 AND kind = ?2 AND id = ?3))",
            (at.kind.domain(), at.kind.to_string(), &at.id, at.version),
        )?;
        Ok(found.into_iter().next())
    }

    /// The newest versions after a number, in order, at most `max`.
    pub(super) fn after(
        &self,
        kind: RecordKind,
        seq: u64,
        max: usize,
    ) -> AppendOutcome<Vec<DomainRecord>> {
        self.select(
            &format!("domain = ?1 AND kind = ?2 AND seq > ?3 AND {NEWEST} ORDER BY seq LIMIT ?4"),
            (kind.domain(), kind.to_string(), seq, max),
        )
    }

    /// All versions, oldest first.
    pub(super) fn versions(&self, kind: RecordKind, id: &str) -> AppendOutcome<Vec<DomainRecord>> {
        self.select(
            "domain = ?1 AND kind = ?2 AND id = ?3 ORDER BY version",
            (kind.domain(), kind.to_string(), id),
        )
    }

    /// The newest capsule of a source, verified or not.
    pub(super) fn capsule(&self, capsule: [u8; 32]) -> AppendOutcome<Option<DomainRecord>> {
        let found = self.select("capsule = ?1 ORDER BY seq DESC LIMIT 1", [capsule])?;
        Ok(found.into_iter().next())
    }

    fn select(
        &self,
        which: &str,
        params: impl rusqlite::Params,
    ) -> AppendOutcome<Vec<DomainRecord>> {
        let select = format!("SELECT {COLUMNS} FROM records WHERE {which}");
        let mut select = self.transaction.prepare_cached(&select)?;
        let mut rows = select.query(params)?;
        let mut records = Vec::new();
        while let Some(row) = rows.next()? {
            records.push(self.record(row)?);
        }
        Ok(records)
    }

    fn record(&self, row: &rusqlite::Row<'_>) -> AppendOutcome<DomainRecord> {
        let place = RecordPointer {
            kind: kind_of(&row.get::<_, String>(1)?)?,
            id: row.get(2)?,
            version: Some(row.get(3)?),
        };
        let author: String = row.get(5)?;
        let opened = self.sealer.open(&place, row.get(6)?);
        let (Some(content), Ok(by)) = (opened, serde_json::from_str(&author)) else {
            let record = place.to_string();
            return Err(TransactionError::Refused(RecordStoreError::Changed {
                record,
            }));
        };
        Ok(DomainRecord {
            seq: row.get(0)?,
            kind: place.kind,
            id: place.id,
            version: place.version.unwrap_or_default(),
            body: content.body,
            evidence: content.evidence,
            by,
            at_ms: Timestamp(row.get(4)?),
            sources: content.sources,
        })
    }

    /// Adds a version after the newest one.
    pub(super) fn add(&self, row: &NewRow<'_>) -> AppendOutcome<RecordPointer> {
        let kind = row.kind.to_string();
        let newest: u64 = self
            .transaction
            .prepare_cached(
                "SELECT coalesce(max(version), 0) FROM records WHERE domain = ?1 AND kind = ?2 AND id = ?3",
            )?
            .query_row((row.kind.domain(), &kind, row.id), |row| row.get(0))?;
        let last: u64 = self
            .transaction
            .prepare_cached("SELECT coalesce(max(seq), 0) FROM records")?
            .query_row([], |row| row.get(0))?;
        let place = RecordPointer {
            version: Some(newest + 1),
            ..RecordPointer::to(row.kind, row.id)
        };
        let author = serde_json::to_string(row.author).map_err(|error| StoreError::NotARecord {
            what: error.to_string(),
        })?;
        self.transaction
            .prepare_cached(
                "INSERT INTO records VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            )?
            .execute(rusqlite::params![
                last + 1,
                row.kind.domain(),
                kind,
                row.id,
                newest + 1,
                i64::try_from(row.at.0).unwrap_or(i64::MAX),
                author,
                self.sealer.seal(&place, row.content)?,
                row.capsule,
                row.by.map(|by| &by.key),
                row.by.map(|by| by.request),
            ])?;
        Ok(place)
    }
}

fn kind_of(name: &str) -> AppendOutcome<RecordKind> {
    let no_kind = |_| StoreError::damaged("a record is of no kind");
    Ok(name.parse().map_err(no_kind)?)
}
