//! Files of recomputable data: one may be lost at any time, and a damaged one is set aside.

use std::fs;
use std::path::Path;

use rusqlite::Connection;

use crate::error::StoreError;
use crate::sqlite_file::shared::{self, SyncMode};

/// Opens the file and creates `tables` where they are missing. A damaged file, or one that is not a database,
/// is moved to `*.damaged` and replaced.
pub(crate) fn open(path: &Path, tables: &str) -> Result<Connection, StoreError> {
    try_open(path, tables).or_else(|error| match error {
        StoreError::Damaged { .. } => {
            set_aside(path)?;
            try_open(path, tables)
        }
        other => Err(other),
    })
}

fn try_open(path: &Path, tables: &str) -> Result<Connection, StoreError> {
    let connection = shared::open(path, SyncMode::Crash)?;
    connection.execute_batch(tables)?;
    Ok(connection)
}

fn set_aside(path: &Path) -> Result<(), StoreError> {
    // The log of the damaged file would be replayed into the new one.
    for beside in ["-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(beside);
        // One that is not there is as good as removed.
        fs::remove_file(Path::new(&name)).ok();
    }
    fs::rename(path, path.with_extension("damaged"))
        .map_err(|error| StoreError::io("set aside", path, error))
}
