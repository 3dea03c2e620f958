//! Files and folders that only their owner can read.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use crate::error::StoreError;

pub(crate) const FILE_MODE: u32 = 0o600;
pub(crate) const FOLDER_MODE: u32 = 0o700;

/// Permission bits of everybody but the owner.
const OTHERS: u32 = 0o077;

/// Makes a folder, and those above it, unless it is there.
pub(crate) fn create_folder(path: &Path) -> Result<(), StoreError> {
    DirBuilder::new()
        .recursive(true)
        .mode(FOLDER_MODE)
        .create(path)
        .map_err(|error| StoreError::io("create", path, error))
}

/// Opens a file for writing and locking; makes it when it is not there.
pub(crate) fn open_or_create(path: &Path) -> Result<File, StoreError> {
    OpenOptions::new()
        .read(true)
        .write(true)
        // Histories are opened here too, and keep their content.
        .create(true)
        .truncate(false)
        .mode(FILE_MODE)
        .open(path)
        .map_err(|error| StoreError::io("open", path, error))
}

/// Makes an empty file unless it is there. One that is there is not even opened: closing it would take away the
/// locks that a database in this process has on it.
pub(crate) fn create_if_missing(path: &Path) -> Result<(), StoreError> {
    let created = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(FILE_MODE)
        .open(path);
    match created {
        Ok(_) => sync_folder_of(path),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(StoreError::io("create", path, error)),
    }
}

/// Refuses a file or folder that others can read or change.
pub(crate) fn check_private(path: &Path, wanted: u32) -> Result<(), StoreError> {
    let found = fs::metadata(path).map_err(|error| StoreError::io("look at", path, error))?;
    let mode = found.permissions().mode() & 0o777;
    if mode & OTHERS == 0 {
        return Ok(());
    }
    Err(StoreError::ExposedKey {
        path: path.to_owned(),
        mode,
        wanted,
    })
}

/// Puts a whole file in place: a crash leaves all of it or nothing.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let unfinished = path.with_extension("new");
    // Left by a crash; the caller holds the lock, so nobody is writing it.
    match fs::remove_file(&unfinished) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(StoreError::io("remove", &unfinished, error));
        }
        Ok(()) | Err(_) => {}
    }
    write_synced(&unfinished, bytes)?;
    fs::rename(&unfinished, path).map_err(|error| StoreError::io("create", path, error))?;
    sync_folder_of(path)
}

/// Makes a file that is not there yet, and waits until it is on the disk.
pub(crate) fn write_synced(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let write = || -> io::Result<()> {
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(FILE_MODE)
            .open(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().map_err(|error| StoreError::io("write", path, error))
}

/// Overwrites a file and removes it. Returns whether it existed.
pub(crate) fn destroy(path: &Path) -> Result<DestroyOutcome, StoreError> {
    let mut file = match OpenOptions::new().write(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(DestroyOutcome::WasNotThere);
        }
        Err(error) => return Err(StoreError::io("open", path, error)),
    };
    overwrite(&mut file)
        .and_then(|()| fs::remove_file(path))
        .map_err(|error| StoreError::io("destroy", path, error))?;
    sync_folder_of(path)?;
    Ok(DestroyOutcome::Now)
}

fn overwrite(file: &mut File) -> io::Result<()> {
    let size = file.metadata()?.len();
    io::copy(&mut io::repeat(0).take(size), file)?;
    file.sync_all()
}

/// Outcome of a destruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DestroyOutcome {
    Now,
    WasNotThere,
}

/// Makes a created or removed name survive a power loss.
pub(crate) fn sync_folder_of(path: &Path) -> Result<(), StoreError> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(|error| StoreError::io("sync", folder, error))
}
