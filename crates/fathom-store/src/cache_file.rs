//! The file of what can be had again: it may be lost at any time, and a damaged one is set aside.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::error::StoreError;
use crate::private_files;

/// How long one process waits for another's commit.
const BUSY: Duration = Duration::from_secs(5);

/// Opens the file and makes `tables` where they are missing. A file that is no database, or a damaged one, is moved to
/// `*.damaged`, and a new one is begun.
pub(crate) fn open(path: &Path, tables: &str) -> Result<Connection, StoreError> {
    try_open(path, tables).or_else(|error| match error {
        StoreError::Damaged { .. } => {
            set_aside(path)?;
            try_open(path, tables)
        }
        other => Err(other),
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the store: here its cache is opened"
)]
fn try_open(path: &Path, tables: &str) -> Result<Connection, StoreError> {
    private_files::create_if_missing(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // What a power cut takes can be had again.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.execute_batch(tables)?;
    Ok(connection)
}

fn set_aside(path: &Path) -> Result<(), StoreError> {
    for beside in ["-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(beside);
        // One that is not there is as good as removed.
        fs::remove_file(Path::new(&name)).ok();
    }
    fs::rename(path, path.with_extension("damaged"))
        .map_err(|error| StoreError::io("set aside", path, error))
}
