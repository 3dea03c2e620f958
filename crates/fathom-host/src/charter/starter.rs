//! A new charter to begin with.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::CharterError;
use super::built_in;
use super::manifest::{SLUG, is_slug};

/// Placeholder for the charter's name in the files.
const NAME: &str = "@NAME@";

/// Random bytes in the name of the folder that is not finished yet.
const MARK_BYTES: usize = 8;

const FILES: [(&str, &str); 6] = [
    ("charter.toml", include_str!("starter/charter.toml")),
    ("identity.toml", include_str!("starter/identity.toml")),
    ("persona.toml", include_str!("starter/persona.toml")),
    ("instructions.toml", built_in::INSTRUCTIONS),
    ("agents/reviewer.md", include_str!("starter/reviewer.md")),
    ("prompts/greeting.md", include_str!("starter/greeting.md")),
];

/// A charter that was written.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct WrittenCharter {
    pub name: String,
    pub folder: PathBuf,
    /// Its files, from the folder.
    pub files: Vec<&'static str>,
}

/// Writes a new charter, with comments that explain it, to the folder `name` in `parent`. It is there as a whole or
/// not at all, and nothing that is there is touched.
pub fn write(name: &str, parent: &Path) -> Result<WrittenCharter, CharterError> {
    let bad = |why| CharterError::BadName {
        said: name.to_owned(),
        why,
    };
    if !is_slug(name) {
        return Err(bad(SLUG));
    }
    if built_in::NAMES.contains(&name) {
        return Err(bad("a built-in charter uses this name"));
    }
    let folder = parent.join(name);
    if fs::symlink_metadata(&folder).is_ok() {
        return Err(CharterError::Exists { folder });
    }
    let unwritable = |source| CharterError::Unwritable {
        folder: folder.clone(),
        source,
    };
    let draft = draft(name, parent).map_err(unwritable)?;
    let moved = fill(&draft, name).and_then(|()| fs::rename(&draft, &folder));
    if let Err(source) = moved {
        // What is left of a draft is in nobody's way; the first error is the one to tell.
        let _ = fs::remove_dir_all(&draft);
        return Err(match source.kind() {
            io::ErrorKind::DirectoryNotEmpty
            | io::ErrorKind::AlreadyExists
            | io::ErrorKind::NotADirectory => CharterError::Exists { folder },
            _ => unwritable(source),
        });
    }
    Ok(WrittenCharter {
        name: name.to_owned(),
        folder,
        files: FILES.map(|(file, _)| file).to_vec(),
    })
}

/// Makes an empty hidden folder beside the new one.
fn draft(name: &str, parent: &Path) -> io::Result<PathBuf> {
    fs::create_dir_all(parent)?;
    let mut mark = [0; MARK_BYTES];
    getrandom::fill(&mut mark).map_err(io::Error::other)?;
    let mark = u64::from_ne_bytes(mark);
    let draft = parent.join(format!(".{name}.{mark:016x}"));
    fs::create_dir(&draft)?;
    Ok(draft)
}

fn fill(draft: &Path, name: &str) -> io::Result<()> {
    for (file, text) in FILES {
        let path = draft.join(file);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, text.replace(NAME, name))?;
    }
    Ok(())
}
