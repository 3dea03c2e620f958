//! `CPython` as the interpreter: a base process that loads the standard library once and locks itself in, templates that are
//! forked from it and hold material, and sessions that are forked from these. Memory is shared until it is written to.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::cpython::control_socket::ControlSocket;
use crate::error::SandboxError;
use crate::interpreter::{WorkerHandle, WorkerProcess, prefer_to_lose};
use crate::material::{SHARED_BYTES_MIN, SealedMemory, SmallMaterial};
use crate::options::{InterpreterKind, Isolation};
use crate::sandbox;
use crate::syscall_filter::{self, FilterError};

mod control_socket;
#[cfg(test)]
mod exchange_tests;
mod find_python;

pub(crate) use find_python::candidates;

const BASE: &str = include_str!("base.py");
const RECIPES: &str = concat!(
    include_str!("recipes/asking.py"),
    include_str!("recipes/sources.py"),
    include_str!("recipes/showing.py"),
    include_str!("recipes/words.py"),
    include_str!("recipes/finding.py"),
    include_str!("recipes/records.py"),
    include_str!("recipes/tables.py"),
    include_str!("recipes/counting.py"),
    include_str!("recipes/numbers.py"),
    include_str!("recipes/reading.py"),
    include_str!("recipes/comparing.py"),
);
const SESSION: &str = concat!(
    include_str!("session.py"),
    "\n\n",
    include_str!("answers.py"),
    "\n\n",
    include_str!("surroundings.py"),
    "\n\n",
    include_str!("modules.py")
);

/// Reads the base's source from its control socket. Its own copy of the builtins is out of reach of what code in a cell
/// puts in their place.
const STUB: &str = "import posix, builtins; exec(posix.read(0, 1 << 20), \
                    {'__builtins__': dict(vars(builtins)), '__name__': 'fathom'})";

/// Longest time until the base process is ready; it takes a fraction of a second on an idle machine.
const BEGIN_MAX: Duration = Duration::from_secs(30);

/// Longest time until a session's process is there.
const OPEN_MAX: Duration = Duration::from_secs(30);

/// Most threads and processes of the user that the sandbox runs as, as its processes see it.
// High, because the kernel counts everything that the user runs, and not only what is ours.
const THREADS_MAX: u32 = 8_192;

/// More than a machine has; a larger limit is no number that the kernel takes.
const MEMORY_BYTES_MAX: u64 = 1 << 46;

/// A Python that cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unusable {
    #[error(transparent)]
    Filter(#[from] FilterError),
    #[error(transparent)]
    Control(#[from] SandboxError),
    #[error(transparent)]
    Start(#[from] io::Error),
    #[error("it did not get ready in time")]
    Late,
    #[error("it ended before it was ready ({0})")]
    Ended(io::Error),
    /// The base process gives the reason itself.
    #[error("{0}")]
    Refused(String),
}

/// The base process.
#[derive(Debug)]
pub(crate) struct BaseProcess {
    control: ControlSocket,
    turn: Mutex<()>,
    _child: Child,
}

#[derive(Serialize)]
struct SessionSetup {
    base_filters: Vec<Vec<u8>>,
    session_filters: Vec<Vec<u8>>,
    session: &'static str,
    recipes: &'static str,
    threads_max: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case", untagged)]
enum BegunSession {
    Refused { refused: String },
    Ready { version: String, landlock: u32 },
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum ForkOrder {
    Template {
        material: LentDescriptors,
    },
    Session {
        memory: u64,
        material: Option<LentDescriptors>,
    },
}

/// Material in the memory that comes beside an order.
#[derive(Serialize)]
struct LentDescriptors {
    bytes: u64,
    index_bytes: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case", untagged)]
enum ForkDone {
    Failed {
        failed: String,
    },
    Forked {
        process: u32,
    },
    Ready {
        #[serde(rename = "ready")]
        _ready: bool,
    },
}

impl BaseProcess {
    /// Tells whether no further session can be forked from it.
    pub(crate) fn is_broken(&self) -> bool {
        self.control.is_broken()
    }

    #[cfg(test)]
    #[expect(clippy::used_underscore_binding, reason = "only a test looks at it")]
    pub(crate) fn number(&self) -> Option<u32> {
        self._child.id()
    }

    /// Starts the base process on this Python; an error says why it cannot be used.
    pub(crate) async fn begin(program: &Path) -> Result<(Self, Isolation), Unusable> {
        Self::begin_with(program, syscall_filter::base()?, syscall_filter::session()?).await
    }

    async fn begin_with(
        program: &Path,
        base_filters: Vec<Vec<u8>>,
        session_filters: Vec<Vec<u8>>,
    ) -> Result<(Self, Isolation), Unusable> {
        let setup = SessionSetup {
            base_filters,
            session_filters,
            session: SESSION,
            recipes: RECIPES,
            threads_max: THREADS_MAX,
        };
        let (control, theirs) = ControlSocket::pair()?;
        let child = start(program, theirs)?;
        // It waits for its source, and says nothing of itself to others after that.
        prefer_to_lose(child.id().unwrap_or_default());
        let talk = async {
            control.send_bytes(BASE.as_bytes(), &[]).await?;
            control.send(&setup, &[]).await?;
            control.receive::<BegunSession>().await
        };
        let begun = timeout(BEGIN_MAX, talk)
            .await
            .map_err(|_| Unusable::Late)?
            .map_err(Unusable::Ended)?;
        match begun.0 {
            BegunSession::Refused { refused } => Err(Unusable::Refused(refused)),
            BegunSession::Ready { version, landlock } => {
                let isolation = Isolation {
                    interpreter: InterpreterKind::CPython,
                    version,
                    program: Some(program.to_owned()),
                    landlock: Some(landlock),
                    seccomp: true,
                    limits: true,
                    refused: Vec::new(),
                };
                let base = Self {
                    control,
                    turn: Mutex::new(()),
                    _child: child,
                };
                Ok((base, isolation))
            }
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place where the sandbox starts a program"
)]
fn start(program: &Path, control: OwnedFd) -> io::Result<Child> {
    Command::new(program)
        // The standard library alone, whatever packages are installed, and no files of byte code.
        .args(["-S", "-s", "-B", "-X", "utf8", "-c", STUB])
        .env_clear()
        // Sets and dictionaries keep their order in a replay. The parser of XML takes 0 for no seed at all.
        .env("PYTHONHASHSEED", "1")
        // Large texts in large pages: a fork then copies fewer entries. Unknown to other C libraries.
        .env("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1")
        .current_dir("/")
        .stdin(Stdio::from(control))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        // What is typed at the terminal to end or stop the host is not for it.
        .process_group(0)
        .spawn()
}

/// Source of the sessions on one context.
#[derive(Clone, Debug)]
pub(crate) enum ForkTemplate {
    /// A process that holds the material, for all sessions together.
    Shared(Arc<CpythonShared>),
    /// Any base process; each session reads the material by itself.
    Own(Arc<SmallMaterial>),
}

#[derive(Debug)]
pub(crate) struct CpythonShared {
    control: ControlSocket,
    turn: Mutex<()>,
    _process: WorkerProcess,
    // Its parent: it must not end before.
    _base: Arc<BaseProcess>,
}

impl ForkTemplate {
    pub(crate) async fn load(
        base: &Arc<BaseProcess>,
        material: SealedMemory,
    ) -> Result<Self, SandboxError> {
        if material.bytes < SHARED_BYTES_MIN {
            return Ok(Self::Own(Arc::new(SmallMaterial::new(material)?)));
        }
        let base = Arc::clone(base);
        let (control, theirs) = ControlSocket::pair()?;
        let order = {
            let base = Arc::clone(&base);
            async move {
                let order = ForkOrder::Template {
                    material: LentDescriptors {
                        bytes: material.bytes,
                        index_bytes: material.index_bytes,
                    },
                };
                exchange(
                    &base.control,
                    &base.turn,
                    &order,
                    &[theirs.as_fd(), material.memory.as_fd()],
                )
                .await
            }
        };
        let process = whole(order).await?;
        let (ready, _) = control.receive::<ForkDone>().await.map_err(failed)?;
        match ready {
            ForkDone::Ready { .. } => Ok(Self::Shared(Arc::new(CpythonShared {
                control,
                turn: Mutex::new(()),
                _process: process,
                _base: base,
            }))),
            ForkDone::Failed { failed } => Err(SandboxError::BadMaterial { cause: failed }),
            ForkDone::Forked { .. } => Err(out_of_turn()),
        }
    }

    /// Begins a worker, where it needs one from the base process that the sandbox has now.
    pub(crate) async fn open(
        &self,
        sandbox: &sandbox::SandboxShared,
        memory: u64,
    ) -> Result<WorkerHandle, SandboxError> {
        let memory = memory.min(MEMORY_BYTES_MAX);
        let (ours, theirs) = UnixStream::pair().map_err(SandboxError::io("make a socket"))?;
        let theirs = theirs
            .into_std()
            .map_err(SandboxError::io("make a socket"))?;
        // The worker waits in its calls.
        theirs
            .set_nonblocking(false)
            .map_err(SandboxError::io("make a socket"))?;
        let process = match self {
            Self::Shared(shared) => {
                let shared = Arc::clone(shared);
                whole(async move {
                    let order = ForkOrder::Session {
                        memory,
                        material: None,
                    };
                    exchange(&shared.control, &shared.turn, &order, &[theirs.as_fd()]).await
                })
                .await?
            }
            Self::Own(material) => {
                let (base, material) = (sandbox.base().await?, Arc::clone(material));
                whole(async move {
                    let order = ForkOrder::Session {
                        memory,
                        material: Some(LentDescriptors {
                            bytes: material.bytes,
                            index_bytes: material.index_bytes,
                        }),
                    };
                    let memory = material.memory()?;
                    let descriptors = [theirs.as_fd(), memory.as_fd()];
                    exchange(&base.control, &base.turn, &order, &descriptors).await
                })
                .await?
            }
        };
        Ok(WorkerHandle {
            stream: ours,
            process,
        })
    }
}

/// Runs an exchange to its end, even when the caller is gone: the next one must find no reply of this one.
async fn whole(
    exchange: impl Future<Output = Result<WorkerProcess, SandboxError>> + Send + 'static,
) -> Result<WorkerProcess, SandboxError> {
    tokio::spawn(exchange)
        .await
        .map_err(|error| SandboxError::BaseFailed {
            what: error.to_string(),
        })?
}

/// Orders a fork, and takes the child's descriptor.
async fn exchange(
    control: &ControlSocket,
    turn: &Mutex<()>,
    order: &ForkOrder,
    descriptors: &[std::os::fd::BorrowedFd<'_>],
) -> Result<WorkerProcess, SandboxError> {
    // Replies have no number: one exchange must be over before the next begins.
    let _turn = turn.lock().await;
    if control.is_broken() {
        return Err(failed(io::ErrorKind::UnexpectedEof.into()));
    }
    let talk = async {
        control.send(order, descriptors).await?;
        control.receive::<ForkDone>().await
    };
    let talked = match timeout(OPEN_MAX, talk).await {
        Ok(talked) => talked,
        Err(_) => Err(io::ErrorKind::TimedOut.into()),
    };
    let (done, mut descriptors) = talked.inspect_err(|_| control.give_up()).map_err(failed)?;
    match (done, descriptors.pop()) {
        (ForkDone::Forked { process }, Some(descriptor)) => {
            Ok(WorkerProcess::new(descriptor, process))
        }
        (ForkDone::Failed { failed }, _) => Err(SandboxError::BaseFailed { what: failed }),
        _ => Err(out_of_turn()),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to `map_err`")]
fn failed(error: io::Error) -> SandboxError {
    SandboxError::BaseFailed {
        what: if error.kind() == io::ErrorKind::UnexpectedEof {
            "it ended".to_owned()
        } else {
            error.to_string()
        },
    }
}

fn out_of_turn() -> SandboxError {
    SandboxError::BaseFailed {
        what: "it answered out of turn".to_owned(),
    }
}

/// The Pythons to try, in order.
pub(crate) fn programs(python: Option<&PathBuf>, folders: &[PathBuf]) -> Vec<PathBuf> {
    python.map_or_else(|| candidates(folders), |python| vec![python.clone()])
}

#[cfg(test)]
#[path = "lockdown_tests.rs"]
mod tests;
