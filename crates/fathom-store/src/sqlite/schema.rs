//! The tables of the journal's file, and how an older file becomes a newer one.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};

use crate::error::StoreError;

/// The format this program writes.
pub(super) const FORMAT: u32 = 1;

/// How often one process looks whether another's commit is over. Its commits follow each other closely, so who
/// looks seldom waits long.
const BUSY_PAUSE: Duration = Duration::from_millis(1);
/// Looks before it gives up: thirty seconds and more.
const BUSY_LOOKS_MAX: i32 = 30_000;

/// Pages in the write-ahead log before they move into the main file: 16 MiB.
const CHECKPOINT_PAGES: u32 = 4096;

const TABLES: &str = "
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
    run BLOB PRIMARY KEY,
    epoch INTEGER NOT NULL,
    state TEXT NOT NULL,
    is_finished INTEGER NOT NULL,
    program TEXT NOT NULL,
    model TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    events INTEGER NOT NULL,
    episodes INTEGER NOT NULL,
    model_calls INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_by_age ON runs (created_at, run);

CREATE TABLE events (
    position INTEGER PRIMARY KEY,
    run BLOB NOT NULL,
    episode TEXT NOT NULL,
    seq INTEGER NOT NULL,
    body BLOB NOT NULL,
    hash BLOB NOT NULL,
    UNIQUE (run, episode, seq)
) STRICT;

CREATE TABLE blobs (
    run BLOB NOT NULL,
    address BLOB NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (run, address)
) STRICT;

CREATE TABLE signals (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    run BLOB NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX signals_by_run ON signals (run, id);

CREATE TABLE kills (
    id INTEGER PRIMARY KEY,
    scope TEXT NOT NULL,
    thrown_by TEXT NOT NULL,
    thrown_at INTEGER NOT NULL,
    lifted_by TEXT,
    lifted_at INTEGER
) STRICT;
CREATE UNIQUE INDEX kills_in_force ON kills (scope) WHERE lifted_at IS NULL;

CREATE TABLE claims (
    key TEXT NOT NULL,
    generation INTEGER NOT NULL,
    payload BLOB NOT NULL,
    run BLOB NOT NULL,
    episode TEXT NOT NULL,
    ask INTEGER NOT NULL,
    claimed_at INTEGER NOT NULL,
    PRIMARY KEY (key, generation)
) STRICT, WITHOUT ROWID;

CREATE TABLE overrides (
    key TEXT NOT NULL,
    generation INTEGER NOT NULL,
    ordered_by TEXT NOT NULL,
    ordered_at INTEGER NOT NULL,
    PRIMARY KEY (key, generation)
) STRICT, WITHOUT ROWID;
";

/// Turns a file of one format into the next.
pub(super) type Migration = fn(&Transaction<'_>) -> rusqlite::Result<()>;

/// The step from format `n` to `n + 1` stands at index `n - 1`.
const MIGRATIONS: [Migration; FORMAT as usize - 1] = [];

/// Makes a connection fit for the journal: commits are on the disk when they return.
pub(super) fn configure(connection: &mut Connection) -> Result<(), StoreError> {
    connection.busy_handler(Some(wait_for_others))?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.pragma_update(None, "trusted_schema", false)?;
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "another process's commit is no event that could be awaited"
)]
fn wait_for_others(looks: i32) -> bool {
    std::thread::sleep(BUSY_PAUSE);
    looks < BUSY_LOOKS_MAX
}

/// Makes the writer's connection durable. Not before [`prepare`] has said that the file is ours.
pub(super) fn configure_writer(connection: &Connection) -> Result<(), StoreError> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    Ok(())
}

/// Makes the tables of a new file, brings an older one up to date, and refuses what it does not know.
pub(super) fn prepare(connection: &mut Connection) -> Result<(), StoreError> {
    prepare_for(connection, FORMAT, &MIGRATIONS)
}

fn prepare_for(
    connection: &mut Connection,
    known: u32,
    migrations: &[Migration],
) -> Result<(), StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    match format_of(&transaction)? {
        None => transaction.execute_batch(TABLES)?,
        Some(found) if found > known => {
            return Err(StoreError::NewerFormat {
                found,
                known,
                written_by: meta(&transaction, "written_by")?.unwrap_or_default(),
            });
        }
        Some(found) => {
            let done = found.saturating_sub(1) as usize;
            for migrate in migrations.iter().skip(done) {
                migrate(&transaction)?;
            }
        }
    }
    if meta(&transaction, "format")? != Some(known.to_string()) {
        set_meta(&transaction, "format", &known.to_string())?;
        set_meta(&transaction, "written_by", env!("CARGO_PKG_VERSION"))?;
    }
    transaction.commit()?;
    Ok(())
}

/// The format of a file; none when it is empty.
fn format_of(connection: &Connection) -> Result<Option<u32>, StoreError> {
    let names = "SELECT count(*), count(*) FILTER (WHERE name = 'meta') FROM sqlite_schema";
    let (all, ours): (u32, u32) =
        connection.query_row(names, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    match (all, ours) {
        (0, _) => Ok(None),
        (_, 0) => Err(StoreError::damaged("the file is some other database")),
        _ => {
            let format = meta(connection, "format")?.and_then(|format| format.parse().ok());
            format
                .map(Some)
                .ok_or_else(|| StoreError::damaged("the file does not say its format"))
        }
    }
}

fn meta(connection: &Connection, key: &str) -> Result<Option<String>, StoreError> {
    let value = connection
        .query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| {
            row.get(0)
        })
        .optional()?;
    Ok(value)
}

fn set_meta(connection: &Connection, key: &str, value: &str) -> Result<(), StoreError> {
    let set = "INSERT INTO meta VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = excluded.value";
    connection.execute(set, [key, value])?;
    Ok(())
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
