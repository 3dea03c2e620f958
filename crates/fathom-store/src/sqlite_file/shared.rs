//! A database in a file that several processes share.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction};

use crate::error::StoreError;
use crate::private_files;

/// Longest wait for another process's commit.
const BUSY: Duration = Duration::from_secs(5);

/// Tries to open a file that another process is just creating: with pauses of 1 ms, as long as `BUSY`.
const OPEN_TRIES_MAX: u32 = 5_000;

/// Durability of a commit: process crash only, or power loss too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SyncMode {
    /// Survives a crash of the process. What a power loss takes can be recomputed.
    Crash,
    /// Survives a power loss: others rely on what was answered.
    PowerCut,
}

/// Opens the file, which is made for its owner alone when it is not there.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the store: here its files beside the journal are opened"
)]
pub(crate) fn open(path: &Path, outlives: SyncMode) -> Result<Connection, StoreError> {
    private_files::create_if_missing(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY)?;
    // The file may come from elsewhere, and its schema must not run functions.
    connection.pragma_update(None, "trusted_schema", false)?;
    // Those who open a new file at the same time wait for each other here; the timeout does not hold for this change.
    let mut tries = 0;
    while let Err(error) = connection.pragma_update(None, "journal_mode", "WAL") {
        let is_busy = error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy);
        tries += 1;
        if !is_busy || tries == OPEN_TRIES_MAX {
            return Err(error.into());
        }
        pause();
    }
    let synchronous = match outlives {
        SyncMode::Crash => "NORMAL",
        SyncMode::PowerCut => "FULL",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    Ok(connection)
}

#[expect(
    clippy::disallowed_methods,
    reason = "another process makes the file, and nothing else can be done meanwhile"
)]
fn pause() {
    std::thread::sleep(Duration::from_millis(1));
}

/// Creates the tables of an empty file, and returns the format of the file.
pub(crate) fn make_tables(
    transaction: &Transaction<'_>,
    tables: &str,
    format: u64,
) -> rusqlite::Result<u64> {
    let found: u64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let there: u64 =
        transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    // An empty file has version 0 as well, so it takes both to tell a new file from another program's database.
    if (found, there) != (0, 0) {
        return Ok(found);
    }
    transaction.execute_batch(tables)?;
    transaction.pragma_update(None, "user_version", format)?;
    Ok(format)
}
