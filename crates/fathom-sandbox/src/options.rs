//! Options of a sandbox, and its isolation.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::thread;

/// Most session processes at a time, when nothing is said.
pub const PROCESSES_MAX: usize = 64;

/// Options of a sandbox.
#[derive(Clone, Debug)]
pub struct SandboxOptions {
    /// The Python to use; searched for when nothing is said.
    pub python: Option<PathBuf>,
    /// Folders in which a Python is searched for, in order.
    pub search: Vec<PathBuf>,
    pub interpreter: InterpreterChoice,
    /// Most session processes at a time. Sessions that wait give theirs up when others need one.
    pub processes_max: usize,
    /// Most sessions that compute at a time.
    pub computing_max: usize,
    /// Command of the worker of the interpreter that needs no Python; without it there is only Python.
    pub worker: Option<WorkerCommand>,
}

impl Default for SandboxOptions {
    fn default() -> Self {
        Self {
            python: None,
            search: ["/usr/local/bin", "/usr/bin", "/bin"]
                .map(PathBuf::from)
                .to_vec(),
            interpreter: InterpreterChoice::Auto,
            processes_max: PROCESSES_MAX,
            computing_max: thread::available_parallelism().map_or(2, usize::from),
            worker: None,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InterpreterChoice {
    /// `CPython` where it can be locked in, else Monty.
    #[default]
    Auto,
    /// `CPython` or nothing.
    CPython,
    /// Monty or nothing.
    Monty,
}

/// A program that becomes a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerCommand {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
}

/// An interpreter that code can run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterpreterKind {
    /// The reference interpreter of Python: the whole language.
    CPython,
    /// An interpreter of a part of Python, built in.
    Monty,
}

impl InterpreterKind {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::CPython => "CPython",
            Self::Monty => "Monty",
        }
    }
}

/// Isolation of code that a model wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Isolation {
    pub interpreter: InterpreterKind,
    pub version: String,
    /// Path, if it is a separate program.
    pub program: Option<PathBuf>,
    /// Version of the kernel's landlock interface that denies files and ports, where there is one.
    pub landlock: Option<u32>,
    /// Set while a filter of system calls is in force.
    pub seccomp: bool,
    /// Set while the kernel limits memory, files and threads.
    pub limits: bool,
    /// Interpreters that were tried before this one, each with the reason of its refusal.
    pub refused: Vec<String>,
}

impl fmt::Display for Isolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.interpreter.name(), self.version)?;
        match self.landlock {
            Some(version) => write!(f, ", landlock {version}")?,
            None => f.write_str(", no landlock")?,
        }
        f.write_str(if self.seccomp {
            ", seccomp"
        } else {
            ", no seccomp"
        })?;
        if self.limits {
            f.write_str(", limits of memory and files")?;
        }
        for refused in &self.refused {
            write!(f, "; refused: {refused}")?;
        }
        Ok(())
    }
}
