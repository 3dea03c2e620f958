//! Runs one program that people allowed, with arguments that a model chose.
//!
//! There is no shell: arguments reach the program as they are, one by one. The program can read the system's own files, write
//! in one folder, and reach no network, no other process and no file beside. It has no environment and no descriptor of ours.
//! That a file exists may be seen from there, and what is in it not.

use std::io;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use fathom_core::unit::Millis;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};

use crate::clock;
use crate::error::SandboxError;
use crate::options::WorkerCommand;
use crate::worker::{ConfineJob, FirstFrame, GreetingFrame};

/// Most bytes of all arguments together.
pub const ARGUMENTS_BYTES_MAX: usize = 128 << 10;

/// Longest reason of a worker, in bytes.
const REASON_BYTES_MAX: u64 = 16 << 10;

/// A program to run.
#[derive(Clone, Copy, Debug)]
pub struct ConfinedProgram<'a> {
    /// Command of the process that becomes the program.
    pub worker: &'a WorkerCommand,
    /// The programs that people allowed, as whole paths.
    pub allowed: &'a [PathBuf],
    /// The program, as it stands among these.
    pub program: &'a Path,
    /// Its arguments, without its name.
    pub arguments: &'a [String],
    /// The folder it begins in, and the only one it can write to.
    pub folder: &'a Path,
    pub limits: ConfinedLimits,
}

/// Limits of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfinedLimits {
    pub time: Millis,
    /// Bytes of memory of each of its processes.
    pub memory: u64,
    /// Bytes of each file that it writes.
    pub file: u64,
    /// Bytes that are kept of each of its outputs.
    pub output: usize,
}

impl Default for ConfinedLimits {
    fn default() -> Self {
        Self {
            time: Millis(30_000),
            memory: 1 << 30,
            file: 64 << 20,
            output: 256 << 10,
        }
    }
}

/// End of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramEnd {
    /// By itself, with this code.
    Code(i32),
    /// By this signal, as when it used too much.
    Signal(i32),
    /// Its time was up.
    TimeUp,
}

/// Output of a program. It is untrusted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramOutput {
    pub kept: Vec<u8>,
    /// Total number of bytes written.
    pub bytes: u64,
}

/// Result of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramResult {
    pub ended: ProgramEnd,
    pub stdout: ProgramOutput,
    pub stderr: ProgramOutput,
}

/// Runs a program to its end or its limit. Nothing of it is left then, nor when this is dropped before.
pub async fn run(confined: &ConfinedProgram<'_>) -> Result<ProgramResult, SandboxError> {
    let first = FirstFrame::Confine(job(confined)?);
    let (ours, theirs) = StdUnixStream::pair().map_err(SandboxError::io("make a socket"))?;
    ours.set_nonblocking(true)
        .map_err(SandboxError::io("make a socket"))?;
    let mut stream = UnixStream::from_std(ours).map_err(SandboxError::io("watch a socket"))?;
    let begin = SandboxError::io("start a program");
    let mut child = start(confined.worker, theirs).map_err(begin)?;
    let mut group = ProcessGroup::of(&child)?;
    let leader = group.leader;
    // Only looks: what is left of the leader keeps the group's number from being another's until the group is ended.
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    let gone = tokio::task::spawn_blocking(move || waitid(WaitId::Pid(leader), look));

    let until = clock::now() + Duration::from(confined.limits.time);
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let reading = async {
        tokio::join!(
            keep(stdout, confined.limits.output),
            keep(stderr, confined.limits.output),
            tell(&mut stream, &first),
        )
    };
    let ending = async {
        let in_time = tokio::select! {
            _gone = gone => true,
            () = clock::until(Some(until)) => false,
        };
        group.end();
        in_time
    };
    let ((stdout, stderr, refused), in_time) = tokio::join!(reading, ending);
    let status = child.wait().await;
    let status = status.map_err(SandboxError::io("watch a program"))?;
    if let Some(reason) = refused {
        return Err(SandboxError::NotConfined { reason });
    }
    let ended = if in_time {
        ended(status)
    } else {
        ProgramEnd::TimeUp
    };
    Ok(ProgramResult {
        ended,
        stdout,
        stderr,
    })
}

fn job(confined: &ConfinedProgram<'_>) -> Result<ConfineJob, SandboxError> {
    let refused = |reason: &str| SandboxError::NotAllowed {
        program: confined.program.display().to_string(),
        reason: reason.to_owned(),
    };
    let is_listed = confined
        .allowed
        .iter()
        // Equality of paths would take `/bin//ls` and `/bin/./ls` for `/bin/ls`.
        .any(|one| one.as_os_str() == confined.program.as_os_str());
    if !is_listed || !confined.program.is_absolute() {
        return Err(refused("it is not on the list"));
    }
    let bytes: usize = confined.arguments.iter().map(|one| one.len() + 1).sum();
    if bytes > ARGUMENTS_BYTES_MAX {
        return Err(refused("its arguments are too long"));
    }
    if confined.arguments.iter().any(|one| one.contains('\0')) {
        return Err(refused("an argument has a zero byte"));
    }
    let folder = confined.folder.canonicalize();
    let folder = folder.map_err(SandboxError::io("find the program's folder"))?;
    let limits = confined.limits;
    Ok(ConfineJob {
        program: confined.program.to_owned(),
        arguments: confined.arguments.to_vec(),
        folder,
        memory: limits.memory,
        // The watchdog ends it before; this is for the case that there is no watchdog any more.
        seconds: limits.time.0.div_ceil(1_000) + 1,
        file: limits.file,
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "the place where the sandbox starts what becomes a program"
)]
fn start(worker: &WorkerCommand, socket: StdUnixStream) -> io::Result<Child> {
    Command::new(&worker.program)
        .args(&worker.arguments)
        .env_clear()
        .current_dir("/")
        // The host ends the group as a whole; the filters keep all that the program starts in it.
        .process_group(0)
        .stdin(Stdio::from(std::os::fd::OwnedFd::from(socket)))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
}

/// Sends the worker its job, and waits until it has become the program; the reason when it cannot.
async fn tell(stream: &mut UnixStream, job: &FirstFrame) -> Option<String> {
    let talk = async {
        let job = serde_json::to_vec(job)?;
        let length = u32::try_from(job.len()).map_err(io::Error::other)?;
        stream.write_all(&length.to_be_bytes()).await?;
        stream.write_all(&job).await?;
        let mut said = Vec::new();
        stream.take(REASON_BYTES_MAX).read_to_end(&mut said).await?;
        io::Result::Ok(said)
    };
    let said = match talk.await {
        Ok(said) => said,
        Err(error) => return Some(error.to_string()),
    };
    // After the length. The socket ends without a word when the program has begun.
    match serde_json::from_slice(said.get(4..)?) {
        Ok(GreetingFrame::Refused { reason }) => Some(reason),
        Ok(GreetingFrame::Ready(_)) | Err(_) => Some("the worker is another one".to_owned()),
    }
}

/// Reads to the end, and keeps the beginning.
async fn keep(pipe: Option<impl AsyncRead + Unpin>, most: usize) -> ProgramOutput {
    let mut written = ProgramOutput::default();
    let Some(mut pipe) = pipe else {
        return written;
    };
    let mut piece = vec![0; 16 << 10];
    // To the end, even where nothing more is kept: a full pipe would stop the program.
    while let Ok(length @ 1..) = pipe.read(&mut piece).await {
        let room = most.saturating_sub(written.kept.len());
        written.kept.extend_from_slice(&piece[..length.min(room)]);
        written.bytes += length as u64;
    }
    written
}

fn ended(status: ExitStatus) -> ProgramEnd {
    match status.code() {
        Some(code) => ProgramEnd::Code(code),
        None => ProgramEnd::Signal(status.signal().unwrap_or_default()),
    }
}

/// All processes of a program. It cannot leave the group; dropping this ends them.
struct ProcessGroup {
    leader: Pid,
    ended: bool,
}

impl ProcessGroup {
    fn of(child: &Child) -> Result<Self, SandboxError> {
        let number = child.id().and_then(|id| i32::try_from(id).ok());
        let leader = number
            .and_then(Pid::from_raw)
            .ok_or_else(|| SandboxError::io("watch a program")(io::ErrorKind::NotFound.into()))?;
        Ok(Self {
            leader,
            ended: false,
        })
    }

    fn end(&mut self) {
        if !self.ended {
            // It fails when nothing of it is left.
            let _gone = kill_process_group(self.leader, Signal::KILL);
            self.ended = true;
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.end();
    }
}
