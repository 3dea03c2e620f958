//! Errors of running code.

use std::io;

/// A failure to run code.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// No interpreter can be used on this machine.
    #[error("no usable interpreter: {reason}")]
    NoInterpreter {
        /// Interpreters that were tried, each with the reason of its refusal.
        reason: String,
    },
    /// The requested interpreter cannot be used.
    #[error("cannot use {interpreter}: {reason}")]
    Refused {
        interpreter: &'static str,
        reason: String,
    },
    /// The base process ended, or sent an invalid message.
    #[error("the sandbox's base process failed: {what}")]
    BaseFailed { what: String },
    /// Material that cannot be converted to a value.
    #[error("cannot load the material: {cause}")]
    BadMaterial {
        /// Name of the piece, and its defect.
        cause: String,
    },
    /// All material together is too large.
    #[error("the material has {bytes} bytes, but the maximum is {bytes_max}")]
    MaterialTooLarge { bytes: u64, bytes_max: u64 },
    /// The session is already running a cell.
    #[error("the session is already running a cell")]
    Busy,
    /// Nobody waits for this answer.
    #[error("no open question {id}")]
    NotOpen {
        /// Number of the answer.
        id: u32,
    },
    /// A program that may not be run, or not like this.
    #[error("`{program}` is not run: {reason}")]
    NotAllowed { program: String, reason: String },
    /// A program could not be confined, or not be started afterwards.
    #[error("the program cannot be confined: {reason}")]
    NotConfined { reason: String },
    /// The system denied an operation.
    #[error("cannot {what}")]
    System {
        what: &'static str,
        source: io::Error,
    },
}

impl SandboxError {
    /// The error's stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoInterpreter { .. } => "F0801",
            Self::Refused { .. } => "F0802",
            Self::BaseFailed { .. } => "F0803",
            Self::BadMaterial { .. } => "F0804",
            Self::MaterialTooLarge { .. } => "F0805",
            Self::Busy => "F0806",
            Self::NotOpen { .. } => "F0807",
            Self::System { .. } => "F0808",
            Self::NotAllowed { .. } => "F0809",
            Self::NotConfined { .. } => "F0810",
        }
    }

    /// Advice for the user.
    pub fn hint(&self) -> String {
        match self {
            Self::NoInterpreter { .. } => {
                "install Python 3.9 or newer; `fathom doctor` shows which interpreters were tried".to_owned()
            }
            Self::Refused { .. } => {
                "remove the choice of an interpreter, or use a kernel with landlock and seccomp"
                    .to_owned()
            }
            Self::BaseFailed { .. } => {
                "try again; if the error persists, run `fathom doctor` and report its output".to_owned()
            }
            Self::BadMaterial { .. } => {
                "correct the named place, or copy the file to a name that ends in `.txt` to load it as text"
                    .to_owned()
            }
            Self::MaterialTooLarge { .. } => "pass only the relevant part".to_owned(),
            Self::Busy => "wait for the cell to end".to_owned(),
            Self::NotOpen { .. } => "answer each question once, while its cell runs".to_owned(),
            Self::NotAllowed { .. } => {
                "list the program by its absolute path in the charter, and pass shorter arguments"
                    .to_owned()
            }
            Self::NotConfined { .. } => {
                "check that the program exists and that the kernel has landlock and seccomp"
                    .to_owned()
            }
            Self::System { .. } => {
                "check the limits of processes, open files and memory".to_owned()
            }
        }
    }

    pub(crate) fn system(what: &'static str) -> impl FnOnce(rustix::io::Errno) -> Self {
        move |errno| Self::System {
            what,
            source: errno.into(),
        }
    }

    pub(crate) fn io(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { what, source }
    }
}
