//! Monty as the interpreter: one process for each session, of a program that becomes a worker ([`crate::worker`]). There is no
//! process that sessions are forked from, so each session has its own copy of the material.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Stdio;
use std::sync::{Arc, LazyLock, mpsc};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, pidfd_open};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::error::SandboxError;
use crate::interpreter::{WorkerHandle, WorkerProcess, prefer_to_lose};
use crate::material::SealedMemory;
use crate::options::{InterpreterKind, Isolation, WorkerCommand};
use crate::worker::{self, BeginFrame, FirstFrame, GreetingFrame, LockedDown};

/// Longest time until a worker is ready, with all its material.
const BEGIN_MAX: Duration = Duration::from_mins(1);

/// Longest greeting, in bytes.
const GREETING_BYTES_MAX: usize = 16 << 10;

/// Workers that may wait for their beginning; who comes then holds its thread up until there is room.
const STARTS_MAX: usize = 1_024;

/// Starting point of the sessions on one context.
#[derive(Clone, Debug)]
pub(crate) struct MontyTemplate {
    command: Arc<WorkerCommand>,
    material: Arc<SealedMemory>,
}

/// Begins a worker and ends it: what is in force in it, or why it cannot be used.
pub(crate) async fn probe(command: &WorkerCommand) -> Result<Isolation, SandboxError> {
    // Enough to begin in; no cell runs in it.
    let nothing = SealedMemory::copy(Vec::new())?;
    let (_worker, locked) = begin(command, &nothing, 64 << 20).await?;
    Ok(Isolation {
        interpreter: InterpreterKind::Monty,
        version: worker::VERSION.to_owned(),
        program: Some(command.program.clone()),
        landlock: locked.landlock,
        seccomp: locked.seccomp,
        limits: true,
        refused: Vec::new(),
    })
}

impl MontyTemplate {
    /// Material that a worker can read is ready; one is begun to see whether it can.
    pub(crate) async fn load(
        command: &Arc<WorkerCommand>,
        material: SealedMemory,
    ) -> Result<Self, SandboxError> {
        let template = Self {
            command: Arc::clone(command),
            material: Arc::new(material),
        };
        // The limits of sessions are not known yet; this is about reading alone.
        template.open(u64::from(u32::MAX)).await?;
        Ok(template)
    }

    pub(crate) async fn open(&self, memory: u64) -> Result<WorkerHandle, SandboxError> {
        begin(&self.command, &self.material, memory)
            .await
            .map(|(worker, _)| worker)
    }
}

async fn begin(
    command: &WorkerCommand,
    material: &SealedMemory,
    memory: u64,
) -> Result<(WorkerHandle, LockedDown), SandboxError> {
    let (ours, theirs) = StdUnixStream::pair().map_err(SandboxError::io("make a socket"))?;
    ours.set_nonblocking(true)
        .map_err(SandboxError::io("make a socket"))?;
    let mut stream = UnixStream::from_std(ours).map_err(SandboxError::io("watch a socket"))?;
    let memory_file = material.memory.try_clone();
    let memory_file = memory_file.map_err(SandboxError::io("share the material"))?;
    let child = start(command, theirs.into(), memory_file)
        .await
        .map_err(SandboxError::io("start a worker"))?;
    let process = descriptor(&child)?;
    prefer_to_lose(child.id().unwrap_or_default());
    let begin = FirstFrame::Begin(BeginFrame {
        memory,
        pieces: material.pieces.clone(),
    });
    match timeout(BEGIN_MAX, greet(&mut stream, &begin)).await {
        Ok(Ok(GreetingFrame::Ready(locked))) => Ok((WorkerHandle { stream, process }, locked)),
        Ok(Ok(GreetingFrame::Refused { reason })) => {
            Err(SandboxError::BadMaterial { cause: reason })
        }
        Ok(Err(error)) => Err(SandboxError::io("begin a worker")(error)),
        Err(_) => Err(SandboxError::io("begin a worker")(
            io::ErrorKind::TimedOut.into(),
        )),
    }
}

async fn greet(stream: &mut UnixStream, begin: &FirstFrame) -> io::Result<GreetingFrame> {
    let begin = serde_json::to_vec(begin)?;
    let length = u32::try_from(begin.len()).map_err(io::Error::other)?;
    stream.write_all(&length.to_be_bytes()).await?;
    stream.write_all(&begin).await?;
    let length = stream.read_u32().await? as usize;
    if length > GREETING_BYTES_MAX {
        return Err(io::Error::other("its greeting is too long"));
    }
    let mut greeting = vec![0; length];
    stream.read_exact(&mut greeting).await?;
    Ok(serde_json::from_slice(&greeting)?)
}

/// The child's descriptor. The child itself is reaped by the runtime when it ends.
fn descriptor(child: &Child) -> Result<WorkerProcess, SandboxError> {
    let id = child.id().unwrap_or_default();
    let process = i32::try_from(id).ok().and_then(Pid::from_raw);
    let process = process
        .ok_or_else(|| SandboxError::io("watch a worker")(io::ErrorKind::NotFound.into()))?;
    let descriptor =
        pidfd_open(process, PidfdFlags::empty()).map_err(SandboxError::system("watch a worker"))?;
    Ok(WorkerProcess::new(descriptor, id))
}

/// Something that begins a process.
type MontyStart = Box<dyn FnOnce() + Send>;

/// The thread that begins workers. The kernel ends each of them with the thread that began it, so this one lives as long as
/// the program does.
static STARTER: LazyLock<mpsc::SyncSender<MontyStart>> = LazyLock::new(|| {
    let (starts, inbox) = mpsc::sync_channel::<MontyStart>(STARTS_MAX);
    let work = move || {
        for start in inbox {
            // A panic would end the thread, and all workers with it. Who waits hears of it.
            let _panic = catch_unwind(AssertUnwindSafe(start));
        }
    };
    if let Err(error) = thread::Builder::new().spawn(work) {
        tracing::warn!(%error, "no thread for workers");
    }
    starts
});

async fn start(command: &WorkerCommand, socket: OwnedFd, material: OwnedFd) -> io::Result<Child> {
    let (give, started) = oneshot::channel();
    let (command, runtime) = (command.clone(), Handle::current());
    let start = move || {
        let _entered = runtime.enter();
        // Nobody wants it any more when it fails.
        let _unwanted = give.send(spawn(&command, socket, material));
    };
    STARTER
        .send(Box::new(start))
        .map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
    started.await.map_err(io::Error::other)?
}

#[expect(
    clippy::disallowed_methods,
    reason = "the place where the sandbox starts the built-in interpreter"
)]
fn spawn(command: &WorkerCommand, socket: OwnedFd, material: OwnedFd) -> io::Result<Child> {
    // What this program was begun with is not for its workers.
    close_fds::set_fds_cloexec(3, &[]);
    Command::new(&command.program)
        .args(&command.arguments)
        .env_clear()
        .current_dir("/")
        // What is typed at the terminal to end or stop the host is not for it.
        .process_group(0)
        .stdin(Stdio::from(socket))
        .stdout(Stdio::from(material))
        .stderr(Stdio::null())
        .spawn()
}
