//! The record of governance: changes of identities and charters, and the stability of the stack.
//!
//! Acts are only ever added. Samples of the stack's stability are kept for a week.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use fathom_core::unit::{Millis, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, Row, TransactionBehavior, params};
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::sqlite_file::shared::{self, SyncMode, make_tables};

type GovernanceResult<T> = std::result::Result<T, StoreError>;

const FORMAT: u64 = 1;

/// Time for which samples are kept.
pub const SAMPLES_KEPT: Millis = Millis(7 * 24 * 3_600_000);

/// The trigger on inserts also keeps `INSERT OR REPLACE` from taking a row's place.
const TABLES: &str = "
CREATE TABLE acts (
    seq INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    subject TEXT NOT NULL,
    kind TEXT NOT NULL,
    by TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX acts_by_subject ON acts (subject, seq);
CREATE INDEX acts_by_kind ON acts (kind, seq);
CREATE TRIGGER acts_stay_as_they_are BEFORE UPDATE ON acts
BEGIN SELECT RAISE(ABORT, 'an act is never changed'); END;
CREATE TRIGGER acts_stay BEFORE DELETE ON acts
BEGIN SELECT RAISE(ABORT, 'an act is never removed'); END;
CREATE TRIGGER acts_are_added BEFORE INSERT ON acts
WHEN NEW.seq <> 1 + (SELECT coalesce(max(seq), 0) FROM acts)
BEGIN SELECT RAISE(ABORT, 'an act never takes the place of another'); END;
CREATE TABLE samples (
    at_ms INTEGER PRIMARY KEY,
    score_milli INTEGER NOT NULL,
    prime INTEGER NOT NULL,
    lite INTEGER NOT NULL,
    initiative TEXT NOT NULL
) STRICT;
";

const ACT: &str = "seq, at_ms, subject, kind, by, body";

const SAMPLE: &str = "at_ms, score_milli, prime, lite, initiative";

/// Something that was done about an identity or a charter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GovernanceAct {
    /// Its place in the record, from one.
    pub seq: u64,
    pub at: Timestamp,
    /// Subject: a charter's name, or the id of a proposal.
    pub subject: String,
    /// Action, in one word.
    pub kind: String,
    /// Author, as `os:alice` or `key:0123456789abcdef`.
    pub by: String,
    /// Details, as JSON.
    pub body: String,
}

/// An act to be recorded.
#[derive(Clone, Copy, Debug)]
pub struct NewAct<'a> {
    pub at: Timestamp,
    pub subject: &'a str,
    /// Action, in one word.
    pub kind: &'a str,
    /// Author.
    pub by: &'a str,
    /// Details, as JSON.
    pub body: &'a str,
}

/// State of the initiative loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InitiativeBudget {
    /// Running, and its last cycle succeeded.
    Active,
    /// Its last cycle failed.
    Failed,
    /// Not running.
    Off,
}

impl InitiativeBudget {
    const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Failed => "failed",
            Self::Off => "off",
        }
    }
}

/// State of the stack at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StackSample {
    pub at: Timestamp,
    /// The stability score, in thousandths.
    pub score_milli: u16,
    /// True if Prime responded.
    pub prime: bool,
    /// True if Lite responded.
    pub lite: bool,
    pub initiative: InitiativeBudget,
}

/// The record, in a file of its own.
#[derive(Debug)]
pub struct GovernanceStore {
    connection: Mutex<Connection>,
    path: PathBuf,
}

impl GovernanceStore {
    /// Opens the file, or creates it.
    pub fn open(path: &Path) -> GovernanceResult<Self> {
        let mut connection = shared::open(path, SyncMode::PowerCut)?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let found = make_tables(&transaction, TABLES, FORMAT)?;
        if found != FORMAT {
            return Err(StoreError::NewerFile {
                path: path.to_owned(),
                found,
                known: FORMAT,
            });
        }
        transaction.commit()?;
        Ok(Self {
            connection: Mutex::new(connection),
            path: path.to_owned(),
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        // Nothing half done is left behind: a transaction that was not committed is rolled back.
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an act and returns once it is on disk.
    pub fn add(&self, act: NewAct<'_>) -> GovernanceResult<GovernanceAct> {
        // The number is taken within the insert, so that two processes cannot take the same one.
        let sql = format!(
            "INSERT INTO acts ({ACT}) SELECT 1 + coalesce(max(seq), 0), ?1, ?2, ?3, ?4, ?5 FROM acts RETURNING {ACT}"
        );
        let NewAct {
            at,
            subject,
            kind,
            by,
            body,
        } = act;
        let added = params![at.0, subject, kind, by, body];
        Ok(self.lock().query_row(&sql, added, act_of)?)
    }

    /// Acts on a subject, oldest first.
    pub fn about(&self, subject: &str) -> GovernanceResult<Vec<GovernanceAct>> {
        self.acts("subject", subject)
    }

    /// Acts of one kind, oldest first.
    pub fn of_kind(&self, kind: &str) -> GovernanceResult<Vec<GovernanceAct>> {
        self.acts("kind", kind)
    }

    fn acts(&self, column: &'static str, value: &str) -> GovernanceResult<Vec<GovernanceAct>> {
        let connection = self.lock();
        let sql = format!("SELECT {ACT} FROM acts WHERE {column} = ?1 ORDER BY seq");
        let mut statement = connection.prepare(&sql)?;
        let acts = statement.query_map([value], act_of)?;
        Ok(acts.collect::<rusqlite::Result<_>>()?)
    }

    /// Stores samples, all or none, and drops those that are too old. A second sample of the same moment is
    /// ignored.
    pub fn note(&self, samples: &[StackSample]) -> GovernanceResult<()> {
        let mut connection = self.lock();
        let transaction = connection.transaction()?;
        let sql = format!("INSERT OR IGNORE INTO samples ({SAMPLE}) VALUES (?1, ?2, ?3, ?4, ?5)");
        for sample in samples {
            transaction.execute(
                &sql,
                params![
                    sample.at.0,
                    sample.score_milli,
                    sample.prime,
                    sample.lite,
                    sample.initiative.name()
                ],
            )?;
        }
        // By the newest sample and not by the time: the store has no clock.
        let newest = samples.iter().map(|sample| sample.at.0).max();
        let oldest = newest.unwrap_or_default().saturating_sub(SAMPLES_KEPT.0);
        transaction.execute("DELETE FROM samples WHERE at_ms < ?1", [oldest])?;
        Ok(transaction.commit()?)
    }

    /// The samples after a moment and up to another, preceded by the last one before them.
    pub fn samples(&self, from: Timestamp, to: Timestamp) -> GovernanceResult<Vec<StackSample>> {
        let connection = self.lock();
        let sql = format!(
            "SELECT {SAMPLE} FROM samples WHERE at_ms <= ?2 AND at_ms >= \
             coalesce((SELECT max(at_ms) FROM samples WHERE at_ms <= ?1), ?1) ORDER BY at_ms"
        );
        let mut statement = connection.prepare(&sql)?;
        let samples = statement.query_map([from.0, to.0], sample_of)?;
        Ok(samples.collect::<rusqlite::Result<_>>()?)
    }

    /// The newest sample.
    pub fn last_sample(&self) -> GovernanceResult<Option<StackSample>> {
        let sql = format!("SELECT {SAMPLE} FROM samples ORDER BY at_ms DESC LIMIT 1");
        Ok(self.lock().query_row(&sql, [], sample_of).optional()?)
    }
}

fn act_of(row: &Row<'_>) -> rusqlite::Result<GovernanceAct> {
    Ok(GovernanceAct {
        seq: row.get(0)?,
        at: Timestamp(row.get(1)?),
        subject: row.get(2)?,
        kind: row.get(3)?,
        by: row.get(4)?,
        body: row.get(5)?,
    })
}

fn sample_of(row: &Row<'_>) -> rusqlite::Result<StackSample> {
    let initiative: String = row.get(4)?;
    let known = [
        InitiativeBudget::Active,
        InitiativeBudget::Failed,
        InitiativeBudget::Off,
    ];
    let found = known.into_iter().find(|state| state.name() == initiative);
    Ok(StackSample {
        at: Timestamp(row.get(0)?),
        score_milli: row.get(1)?,
        prime: row.get(2)?,
        lite: row.get(3)?,
        initiative: found.ok_or(rusqlite::Error::InvalidColumnType(
            4,
            initiative,
            rusqlite::types::Type::Text,
        ))?,
    })
}
