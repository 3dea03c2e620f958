//! Files that are there as a whole or not at all.

use std::fs::{self, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::terminal::masking::Unmasked;

/// Readable for all whom the process's mask lets in, as files that other programs make are.
// As `open` creates files, with the umask taken off; the default of a temporary file is 0600.
const FILE_MODE: u32 = 0o666;

/// Puts a file in place as it is. What was there under its name is replaced at once, never written into.
pub(crate) fn write_original(_why: Unmasked, file: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = file.parent().filter(|folder| folder != &Path::new(""));
    let mut draft = tempfile::Builder::new()
        .prefix(".fathom-")
        .permissions(Permissions::from_mode(FILE_MODE))
        // In the same folder, since a rename cannot cross filesystems.
        .tempfile_in(folder.unwrap_or(Path::new(".")))?;
    draft.write_all(bytes)?;
    // Before the rename: otherwise a power loss may leave an empty file under the name.
    draft.as_file().sync_all()?;
    draft.persist(file)?;
    Ok(())
}

/// File that already exists under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Existing {
    Nothing,
    File,
    /// A folder, a link, a device.
    Other,
}

/// Looks what is there; a link is not followed.
pub(crate) fn look(file: &Path) -> io::Result<Existing> {
    // Links are not followed: replacing one would leave its target as it was, or write outside the folder.
    match fs::symlink_metadata(file) {
        Ok(found) if found.is_file() => Ok(Existing::File),
        Ok(_) => Ok(Existing::Other),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Existing::Nothing),
        Err(error) => Err(error),
    }
}
