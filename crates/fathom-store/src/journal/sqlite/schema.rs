//! Tables of the journal's file, and migrations from older formats.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};

use crate::error::StoreError;

/// Format that this version writes.
pub(super) const FORMAT: u32 = 3;

/// Pause between checks whether another process's commit is over. Its commits follow each other closely, so a
/// process that checks rarely waits long.
const BUSY_PAUSE: Duration = Duration::from_millis(1);
/// Checks before giving up: thirty seconds and more.
const BUSY_LOOKS_MAX: i32 = 30_000;

/// Pages in the write-ahead log before they are moved to the main file: 16 MiB.
const CHECKPOINT_PAGES: u32 = 4096;

/// Tables of the first format. Later ones are in [`MIGRATIONS`], which a new file goes through too.
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

/// Migrates a file from one format to the next.
pub(super) type SchemaMigration = fn(&Transaction<'_>) -> rusqlite::Result<()>;

/// The migration from format `n` to `n + 1` is at index `n - 1`.
const MIGRATIONS: [SchemaMigration; FORMAT as usize - 1] = [
    |file| file.execute_batch(PEOPLE),
    |file| file.execute_batch(RELEASED),
];

/// Since format 3: a key that was claimed for what certainly was not sent is free again.
const RELEASED: &str = "ALTER TABLE claims ADD COLUMN is_released INTEGER NOT NULL DEFAULT 0";

/// Since format 2: requests to people, their decisions and reasons.
const PEOPLE: &str = "
ALTER TABLE runs ADD COLUMN started_by TEXT;
ALTER TABLE kills ADD COLUMN thrown_why TEXT NOT NULL DEFAULT '';
ALTER TABLE kills ADD COLUMN lifted_why TEXT;
ALTER TABLE overrides ADD COLUMN why TEXT NOT NULL DEFAULT '';

CREATE TABLE approvals (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    run BLOB NOT NULL,
    episode TEXT NOT NULL,
    ask INTEGER NOT NULL,
    is_open INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX approvals_by_ask ON approvals (run, episode, ask);
CREATE INDEX approvals_open ON approvals (number) WHERE is_open = 1;

CREATE TABLE pins (
    number INTEGER PRIMARY KEY,
    charter TEXT NOT NULL,
    tool TEXT NOT NULL,
    digest BLOB NOT NULL,
    seen_at INTEGER NOT NULL,
    let_in INTEGER,
    accepted_by TEXT,
    accepted_at INTEGER,
    UNIQUE (charter, tool, digest)
) STRICT;
";

/// Configures a connection for the journal.
pub(super) fn configure(connection: &mut Connection) -> Result<(), StoreError> {
    connection.busy_handler(Some(wait_for_others))?;
    connection.set_prepared_statement_cache_capacity(64);
    // The file may come from elsewhere, and its schema must not run functions.
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

/// Makes the writer's commits durable. Only after [`prepare`] has confirmed that the file is ours.
pub(super) fn configure_writer(connection: &Connection) -> Result<(), StoreError> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // FULL: others act on what was acknowledged, so a power loss must not take it back.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    Ok(())
}

/// Creates the tables of a new file, migrates an older one, and refuses an unknown one.
pub(super) fn prepare(connection: &mut Connection) -> Result<(), StoreError> {
    prepare_for(connection, FORMAT, &MIGRATIONS)
}

fn prepare_for(
    connection: &mut Connection,
    known: u32,
    migrations: &[SchemaMigration],
) -> Result<(), StoreError> {
    // Immediate: two processes must not both find the old format and migrate it.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = match format_of(&transaction)? {
        None => {
            transaction.execute_batch(TABLES)?;
            1
        }
        Some(found) if found > known => {
            return Err(StoreError::NewerFormat {
                found,
                known,
                written_by: meta(&transaction, "written_by")?.unwrap_or_default(),
            });
        }
        Some(found) => found,
    };
    let done = found.saturating_sub(1) as usize;
    for migrate in migrations.iter().skip(done) {
        migrate(&transaction)?;
    }
    // In the same transaction as the tables, so that a crash leaves the old format with the old tables.
    if meta(&transaction, "format")? != Some(known.to_string()) {
        set_meta(&transaction, "format", &known.to_string())?;
        set_meta(&transaction, "written_by", env!("CARGO_PKG_VERSION"))?;
    }
    transaction.commit()?;
    Ok(())
}

/// Format of a file; `None` if it is empty.
fn format_of(connection: &Connection) -> Result<Option<u32>, StoreError> {
    let names = "SELECT count(*), count(*) FILTER (WHERE name = 'meta') FROM sqlite_schema";
    let (all, ours): (u32, u32) =
        connection.query_row(names, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    match (all, ours) {
        (0, _) => Ok(None),
        (_, 0) => Err(StoreError::damaged(
            "the file is a database of another program",
        )),
        _ => {
            let format = meta(connection, "format")?.and_then(|format| format.parse().ok());
            format
                .map(Some)
                .ok_or_else(|| StoreError::damaged("the file does not state its format"))
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
