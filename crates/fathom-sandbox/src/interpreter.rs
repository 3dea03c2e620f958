//! The seam between sessions and the interpreters: how a worker comes to be. What it is told then, and what it says, is the
//! same for all (`frames`).

use std::fs;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Signal, pidfd_send_signal};
use tokio::net::UnixStream;

use crate::cpython;
use crate::error::SandboxError;
use crate::material::SealedMemory;
use crate::monty;
use crate::options::WorkerCommand;
use crate::sandbox;

/// An interpreter that was begun and holds.
#[derive(Clone, Debug)]
pub(crate) enum Interpreter {
    CPython(Arc<cpython::BaseProcess>),
    Monty(Arc<WorkerCommand>),
}

impl Interpreter {
    /// Makes ready what sessions on this material begin from.
    pub(crate) async fn load(
        &self,
        material: SealedMemory,
    ) -> Result<SessionTemplate, SandboxError> {
        match self {
            Self::CPython(base) => cpython::ForkTemplate::load(base, material)
                .await
                .map(SessionTemplate::CPython),
            Self::Monty(command) => monty::MontyTemplate::load(command, material)
                .await
                .map(SessionTemplate::Monty),
        }
    }
}

/// Source of sessions. Dropping it ends its process and the sessions that came of it.
#[derive(Debug)]
pub(crate) enum SessionTemplate {
    CPython(cpython::ForkTemplate),
    Monty(monty::MontyTemplate),
}

impl SessionTemplate {
    /// Begins a worker that may use so many bytes of memory.
    pub(crate) async fn open(
        &self,
        sandbox: &sandbox::SandboxShared,
        memory: u64,
    ) -> Result<WorkerHandle, SandboxError> {
        match self {
            Self::CPython(template) => template.open(sandbox, memory).await,
            Self::Monty(template) => template.open(memory).await,
        }
    }
}

/// Makes the kernel end this process before the host when memory runs out, and all that is forked from it.
pub(crate) fn prefer_to_lose(number: u32) {
    // A system that does not let this be said loses what it chooses.
    let _unsaid = fs::write(format!("/proc/{number}/oom_score_adj"), "1000");
}

/// A session's process.
#[derive(Debug)]
pub(crate) struct WorkerHandle {
    /// Frames go both ways here.
    pub(crate) stream: UnixStream,
    pub(crate) process: WorkerProcess,
}

/// Work of a process's threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThreadLoad {
    pub(crate) computed: Duration,
    pub(crate) threads: u64,
}

/// A process that ends when this is dropped. It is held by descriptor: its number could be another's by now.
#[derive(Debug)]
pub(crate) struct WorkerProcess {
    descriptor: OwnedFd,
    number: u32,
}

impl WorkerProcess {
    pub(crate) fn new(descriptor: OwnedFd, number: u32) -> Self {
        Self { descriptor, number }
    }

    /// The work of its threads, if the system reports it.
    pub(crate) fn load(&self) -> Option<ThreadLoad> {
        let line = fs::read_to_string(format!("/proc/{}/stat", self.number)).ok()?;
        // The name of the program ends with the last bracket, and may hold anything.
        // User and system time are fields 14 and 15 of proc_pid_stat(5), the number of threads is field 20.
        let mut fields = line.rsplit_once(')')?.1.split_whitespace().skip(11);
        let user: u64 = fields.next()?.parse().ok()?;
        let system: u64 = fields.next()?.parse().ok()?;
        let ticks = rustix::param::clock_ticks_per_second().max(1);
        Some(ThreadLoad {
            computed: Duration::from_millis((user + system) * 1_000 / ticks),
            threads: fields.nth(4)?.parse().ok()?,
        })
    }

    /// Lets nothing of it run until [`Self::go_on`].
    pub(crate) fn halt(&self) {
        self.signal(Signal::STOP);
    }

    pub(crate) fn go_on(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        // It fails when the process is gone, which is what its socket tells.
        let _gone = pidfd_send_signal(&self.descriptor, signal);
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}
