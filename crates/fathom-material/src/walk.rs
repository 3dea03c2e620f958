//! Finds the files under the given paths.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::MaterialError;
use crate::limits::{DEPTH_MAX, ENTRIES_MAX, FILES_MAX};

/// Folders with generated files.
const FOLDERS_LEFT_OUT: [&str; 2] = ["node_modules", "target"];

/// An entry of a folder that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedFile {
    /// Its path, as the user would write it.
    pub source: String,
    pub reason: SkipReason,
}

/// Reasons for leaving an entry out, or for a note about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkipReason {
    /// It is not text.
    Binary,
    /// It is too large.
    TooLarge {
        /// Maximum size.
        bytes_max: u64,
    },
    /// It is more than [`DEPTH_MAX`] folders deep.
    TooDeep,
    /// It is a link: its target is read at its own place, or is not meant.
    Link,
    /// It is neither a file nor a folder.
    Special,
    /// It contains generated files.
    Made,
    /// It cannot be read.
    Unreadable { why: String },
    /// It is a PDF that cannot be read.
    BrokenPdf { why: String },
    /// It is named like JSON Lines but is not. It was not left out, but taken as text.
    NotJsonLines {
        /// The first line that is not JSON.
        line: usize,
    },
    /// It is named like JSON Lines, and a line is nested too deeply. It was not left out, but taken as text.
    NestedLines {
        /// The first such line.
        line: usize,
        /// Maximum depth of arrays and objects.
        nesting_max: usize,
    },
    /// It is a PDF of which a part could not be read. It was not left out.
    LostPages {
        /// Number of pages without text, or with unreadable text.
        lost: usize,
        /// Number of all pages.
        pages: usize,
    },
    /// A part of it is not UTF-8. It was not left out: that part became `U+FFFD`.
    FlawedUtf8 {
        /// Number of such places.
        flaws: u64,
    },
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Binary => write!(f, "it is not text"),
            Self::TooLarge { bytes_max } => write!(f, "it has more than {bytes_max} bytes"),
            Self::TooDeep => write!(f, "it lies more than {DEPTH_MAX} folders deep"),
            Self::Link => write!(f, "it is a link"),
            Self::Special => write!(f, "it is neither file nor folder"),
            Self::Made => write!(f, "it holds what a program made"),
            Self::Unreadable { why } => write!(f, "it cannot be read: {why}"),
            Self::BrokenPdf { why } => write!(f, "the PDF cannot be read: {why}"),
            Self::NotJsonLines { line } => write!(f, "line {line} is no JSON"),
            Self::NestedLines { line, nesting_max } => {
                write!(
                    f,
                    "line {line} nests more than {nesting_max} arrays and objects"
                )
            }
            Self::LostPages { lost, pages } => {
                write!(f, "{lost} of {pages} pages gave no text, or not all of it")
            }
            Self::FlawedUtf8 { flaws: 1 } => {
                write!(f, "one place in it is not, and stands as `\u{fffd}`")
            }
            Self::FlawedUtf8 { flaws } => {
                write!(f, "{flaws} places in it are not, and stand as `\u{fffd}`")
            }
        }
    }
}

impl fmt::Display for SkippedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let became = match self.reason {
            SkipReason::NotJsonLines { .. } | SkipReason::NestedLines { .. } => "taken as text",
            SkipReason::LostPages { .. } => "taken in part",
            SkipReason::FlawedUtf8 { .. } => "taken as UTF-8",
            _ => "left out",
        };
        write!(f, "`{}` was {became}: {}", self.source, self.reason)
    }
}

/// A file to be read.
#[derive(Debug)]
pub(crate) struct MaterialFile {
    pub(crate) path: PathBuf,
    /// Its path, as the user would write it.
    pub(crate) source: String,
    pub(crate) named: FileOrigin,
}

/// Difference between a file named by the user and a file in a named folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileOrigin {
    Itself,
    Folder,
}

#[derive(Debug, Default)]
pub(crate) struct FolderWalk {
    pub(crate) found: Vec<MaterialFile>,
    pub(crate) skipped: Vec<SkippedFile>,
    entries: usize,
    seen: BTreeSet<PathBuf>,
}

impl FolderWalk {
    /// Finds the files, each once, sorted by name within each path.
    pub(crate) fn over(paths: &[PathBuf]) -> Result<Self, MaterialError> {
        let mut walk = Self::default();
        for path in paths {
            let metadata = fs::metadata(path).map_err(|source| MaterialError::Unreadable {
                source_name: source_name(path),
                source,
            })?;
            let before = walk.found.len();
            if metadata.is_dir() {
                walk.folder(path)?;
                // Folders list their entries in no stable order.
                walk.found[before..].sort_by(|a, b| a.source.cmp(&b.source));
            } else {
                walk.file(path, FileOrigin::Itself)?;
            }
        }
        walk.skipped.sort_by(|a, b| a.source.cmp(&b.source));
        Ok(walk)
    }

    /// Adds a file, unless it was added before.
    fn file(&mut self, path: &Path, named: FileOrigin) -> Result<(), MaterialError> {
        // By its canonical path: two names may lead to one file.
        let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if !self.seen.insert(place) {
            return Ok(());
        }
        if self.found.len() == FILES_MAX {
            return Err(MaterialError::TooManyFiles {
                files_max: FILES_MAX,
            });
        }
        self.found.push(MaterialFile {
            path: path.to_owned(),
            source: source_name(path),
            named,
        });
        Ok(())
    }

    fn folder(&mut self, top: &Path) -> Result<(), MaterialError> {
        let mut folders = vec![(top.to_owned(), 0)];
        while let Some((folder, depth)) = folders.pop() {
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(source) if depth == 0 => {
                    return Err(MaterialError::Unreadable {
                        source_name: source_name(&folder),
                        source,
                    });
                }
                Err(error) => {
                    self.skip_unreadable(&folder, &error);
                    continue;
                }
            };
            for entry in entries {
                // Entries that are left out count too: a folder of many links must end as well.
                self.entries += 1;
                if self.entries > ENTRIES_MAX {
                    return Err(MaterialError::TooManyFiles {
                        files_max: ENTRIES_MAX,
                    });
                }
                let entry = match entry {
                    Ok(entry) => entry,
                    Err(error) => {
                        self.skip_unreadable(&folder, &error);
                        break;
                    }
                };
                if entry.file_name().as_encoded_bytes().starts_with(b".") {
                    continue;
                }
                let path = entry.path();
                match entry.file_type() {
                    Err(error) => self.skip_unreadable(&path, &error),
                    Ok(kind) if kind.is_symlink() => self.skip(&path, SkipReason::Link),
                    Ok(kind) if kind.is_file() => self.file(&path, FileOrigin::Folder)?,
                    Ok(kind) if !kind.is_dir() => self.skip(&path, SkipReason::Special),
                    Ok(_) if is_left_out(&path) => self.skip(&path, SkipReason::Made),
                    Ok(_) if depth == DEPTH_MAX => self.skip(&path, SkipReason::TooDeep),
                    Ok(_) => folders.push((path, depth + 1)),
                }
            }
        }
        Ok(())
    }

    fn skip_unreadable(&mut self, path: &Path, error: &std::io::Error) {
        let why = error.to_string();
        self.skip(path, SkipReason::Unreadable { why });
    }

    fn skip(&mut self, path: &Path, reason: SkipReason) {
        self.skipped.push(SkippedFile {
            source: source_name(path),
            reason,
        });
    }
}

fn is_left_out(folder: &Path) -> bool {
    FOLDERS_LEFT_OUT
        .iter()
        .any(|name| folder.file_name().is_some_and(|file| file == *name))
}

/// The path as given, as one line without control characters.
pub fn source_name(path: &Path) -> String {
    let name = path.to_string_lossy();
    let name = name.strip_prefix("./").unwrap_or(&name);
    name.replace(char::is_control, "\u{fffd}")
}

/// Remaining size that may be read.
#[derive(Debug)]
pub(crate) struct ByteBudget {
    bytes_max: u64,
    left: u64,
}

impl ByteBudget {
    pub(crate) fn new(bytes_max: u64) -> Self {
        Self {
            bytes_max,
            left: bytes_max,
        }
    }

    pub(crate) fn take(&mut self, bytes: usize) -> Result<(), MaterialError> {
        let bytes_max = self.bytes_max;
        self.left = self
            .left
            .checked_sub(bytes as u64)
            .ok_or(MaterialError::TooLarge { bytes_max })?;
        Ok(())
    }
}
