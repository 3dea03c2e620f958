//! The folder of weights.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use super::blocking_task::ProgressTicker;
use super::catalogue::{CatalogueEntry, FileRole, WeightsCatalogue, WeightsFile};
use super::error::WeightsError;
use super::partial_file;
use super::source::FreeSpace;

/// Maximum number of listed files that are not in the catalogue.
const OTHERS_MAX: usize = 200;

/// A folder with weights, and the catalogue.
#[derive(Clone)]
pub struct WeightsFolder {
    pub(super) folder: PathBuf,
    pub(super) catalogue: Arc<WeightsCatalogue>,
    pub(super) free_space: Arc<FreeSpace>,
}

/// Usable weights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundWeights {
    /// Their name in the catalogue, or that of another file.
    pub name: String,
    /// Their files, checked if the catalogue lists them.
    pub files: Vec<FoundFile>,
}

/// A usable file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFile {
    pub role: FileRole,
    pub path: PathBuf,
}

impl FoundWeights {
    /// The weights themselves.
    pub fn weights(&self) -> Option<&Path> {
        self.of(FileRole::Weights)
    }

    /// The tokenizer beside them.
    pub fn tokenizer(&self) -> Option<&Path> {
        self.of(FileRole::Tokenizer)
    }

    fn of(&self, role: FileRole) -> Option<&Path> {
        let file = self.files.iter().find(|file| file.role == role);
        file.map(|file| file.path.as_path())
    }
}

/// Presence of weights, by name and size alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilePresence {
    /// All files, with their sizes.
    Installed,
    /// A file of another size.
    Damaged,
    /// An incomplete installation.
    Begun {
        /// Size of the part.
        bytes: u64,
    },
    /// Nothing.
    Missing,
}

/// A model file that is not in the catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownWeights {
    /// Its name without the extension.
    pub name: String,
    pub path: PathBuf,
    pub bytes: u64,
}

impl WeightsFolder {
    /// The weights in `folder`, which need not exist yet.
    pub fn new(folder: impl Into<PathBuf>, catalogue: WeightsCatalogue) -> Self {
        Self {
            folder: folder.into(),
            catalogue: Arc::new(catalogue),
            free_space: Arc::new(free_space),
        }
    }

    /// Replaces the query for free space.
    #[must_use]
    pub fn with_free_space(
        mut self,
        free_space: impl Fn(&Path) -> io::Result<u64> + Send + Sync + 'static,
    ) -> Self {
        self.free_space = Arc::new(free_space);
        self
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The catalogue of known weights.
    pub fn catalogue(&self) -> &WeightsCatalogue {
        &self.catalogue
    }

    /// The weights with this name, checked. A file that was not checked before, or has changed since, is read
    /// completely, which takes a second per gigabyte.
    pub fn find(&self, name: &str) -> Result<FoundWeights, WeightsError> {
        if self.catalogue.find(name).is_none()
            && let Some(other) = self.other(name)
        {
            return Ok(FoundWeights {
                name: other.name,
                files: vec![FoundFile {
                    role: FileRole::Weights,
                    path: other.path,
                }],
            });
        }
        let weights = self.catalogue.get(name)?;
        for file in &weights.files {
            if !self.is_checked(file) {
                self.check(weights, file)?;
            }
        }
        Ok(self.found(weights))
    }

    /// Reads all files of the weights and compares them with the catalogue.
    pub fn verify(&self, name: &str) -> Result<FoundWeights, WeightsError> {
        let weights = self.catalogue.get(name)?;
        for file in &weights.files {
            self.check(weights, file)?;
        }
        Ok(self.found(weights))
    }

    /// True if all files exist with the right sizes.
    pub fn is_installed(&self, name: &str) -> bool {
        let weights = self.catalogue.find(name);
        weights.is_some_and(|weights| self.presence(weights) == FilePresence::Installed)
    }

    /// Presence of the weights, by name and size alone.
    pub fn presence(&self, weights: &CatalogueEntry) -> FilePresence {
        let sizes = weights
            .files
            .iter()
            .map(|file| (file.bytes, size(&self.path(file))));
        let sizes: Vec<(u64, Option<u64>)> = sizes.collect();
        if sizes
            .iter()
            .all(|(expected, found)| *found == Some(*expected))
        {
            return FilePresence::Installed;
        }
        if sizes
            .iter()
            .any(|(expected, found)| found.is_some_and(|found| found != *expected))
        {
            return FilePresence::Damaged;
        }
        let parts = weights
            .files
            .iter()
            .filter_map(|file| size(&self.part_path(file)));
        let bytes: u64 = sizes
            .iter()
            .filter_map(|(_, found)| *found)
            .chain(parts)
            .sum();
        if bytes > 0 {
            FilePresence::Begun { bytes }
        } else {
            FilePresence::Missing
        }
    }

    /// The path of a file, whether it exists or not.
    pub fn path(&self, file: &WeightsFile) -> PathBuf {
        self.folder.join(&file.file)
    }

    /// Model files in the folder that are not in the catalogue, by name.
    pub fn others(&self) -> Vec<UnknownWeights> {
        let entries = std::fs::read_dir(&self.folder);
        let entries = entries.into_iter().flatten().flatten();
        let known = |name: &str| {
            let files = self.catalogue.all().iter().flat_map(|one| &one.files);
            files.into_iter().any(|file| file.file == name)
        };
        let mut others: Vec<UnknownWeights> = entries
            .filter_map(|entry| {
                let file = entry.file_name().into_string().ok()?;
                let name = file.strip_suffix(".gguf")?;
                let data = std::fs::metadata(entry.path()).ok()?;
                (data.is_file() && !known(&file)).then(|| UnknownWeights {
                    name: name.to_owned(),
                    path: entry.path(),
                    bytes: data.len(),
                })
            })
            .take(OTHERS_MAX)
            .collect();
        others.sort_by(|a, b| a.name.cmp(&b.name));
        others
    }

    /// The other file with this name, with or without its extension.
    fn other(&self, name: &str) -> Option<UnknownWeights> {
        let name = name.strip_suffix(".gguf").unwrap_or(name);
        self.others().into_iter().find(|other| other.name == name)
    }

    fn found(&self, weights: &CatalogueEntry) -> FoundWeights {
        let files = weights.files.iter().map(|file| FoundFile {
            role: file.role,
            path: self.path(file),
        });
        FoundWeights {
            name: weights.name.clone(),
            files: files.collect(),
        }
    }

    fn check(&self, weights: &CatalogueEntry, file: &WeightsFile) -> Result<(), WeightsError> {
        let path = self.path(file);
        let name = || weights.name.clone();
        let Some(bytes) = size(&path) else {
            return Err(WeightsError::NotInstalled { name: name() });
        };
        let damaged = |cause: String| WeightsError::Damaged {
            name: name(),
            path: path.clone(),
            cause,
        };
        if bytes != file.bytes {
            let cause = format!("it has {bytes} bytes instead of {}", file.bytes);
            return Err(damaged(cause));
        }
        let found = partial_file::hash_file(&path, &ProgressTicker::alone());
        let found = found.map_err(|source| WeightsError::Folder {
            path: path.clone(),
            source,
        })?;
        if found != file.sha256 {
            return Err(damaged(format!("its SHA-256 is {found}")));
        }
        self.note_checked(file);
        Ok(())
    }

    /// True if the file is the one that was checked. Against accidents only: anyone who can write the file can
    /// write the note.
    pub(super) fn is_checked(&self, file: &WeightsFile) -> bool {
        let note = std::fs::read_to_string(self.note_path(file));
        note.is_ok_and(|note| Some(note) == self.note(file))
    }

    /// Notes that the file was checked in its present state. In a read-only folder it is checked every time.
    pub(super) fn note_checked(&self, file: &WeightsFile) {
        if let Some(note) = self.note(file) {
            let path = self.note_path(file);
            let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
            let _ = folder.and_then(|()| std::fs::write(&path, note));
        }
    }

    fn note(&self, file: &WeightsFile) -> Option<String> {
        let data = std::fs::metadata(self.path(file)).ok()?;
        let changed = data.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        let right_size = data.len() == file.bytes;
        let changed = changed.as_nanos();
        right_size.then(|| format!("{} {} {changed}\n", file.sha256, file.bytes))
    }

    fn note_path(&self, file: &WeightsFile) -> PathBuf {
        self.incoming(file).join("checked")
    }

    /// Folder of auxiliary files: the lock, the wheels, the note of the check.
    pub(super) fn incoming(&self, file: &WeightsFile) -> PathBuf {
        self.folder.join(".incoming").join(&file.file)
    }

    fn part_path(&self, file: &WeightsFile) -> PathBuf {
        self.folder.join(format!("{}.part", file.file))
    }
}

/// The size of a file, if it exists.
fn size(path: &Path) -> Option<u64> {
    let data = std::fs::metadata(path).ok()?;
    data.is_file().then_some(data.len())
}

/// Free space for this user.
fn free_space(folder: &Path) -> io::Result<u64> {
    let free = rustix::fs::statvfs(folder)?;
    Ok(free.f_bavail.saturating_mul(free.f_frsize))
}
