//! Why code cannot be run.

use std::io;

/// What stands in the way of running code.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// No interpreter can be used on this machine.
    #[error("no interpreter can run code here: {reason}")]
    NoInterpreter {
        /// What was tried, and why each was refused.
        reason: String,
    },
    /// The interpreter that was asked for cannot be used.
    #[error("{interpreter} is refused: {reason}")]
    Refused {
        interpreter: &'static str,
        reason: String,
    },
    /// The base process ended, or said something that is no message.
    #[error("the sandbox's base process failed: {what}")]
    BaseFailed {
        what: String,
    },
    /// Material that cannot be made into a value.
    #[error("cannot load the material: {cause}")]
    BadMaterial {
        /// Its name, and what is wrong with it.
        cause: String,
    },
    /// All material together is too large.
    #[error("the material has {bytes} bytes, more than {bytes_max}")]
    MaterialTooLarge {
        /// What it has.
        bytes: u64,
        /// What it may have.
        bytes_max: u64,
    },
    /// The session runs a cell already.
    #[error("the session runs a cell already")]
    Busy,
    /// Nobody waits for this answer.
    #[error("no question {id} is open")]
    NotOpen {
        /// The number of the answer.
        id: u32,
    },
    /// A program that may not be run, or not like this.
    #[error("`{program}` is not run: {reason}")]
    NotAllowed {
        program: String,
        reason: String,
    },
    /// A program could not be locked in, or not be started then.
    #[error("the program cannot be confined: {reason}")]
    NotConfined {
        reason: String,
    },
    /// The system denied something.
    #[error("cannot {what}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system said.
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

    /// What the user may do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::NoInterpreter { .. } => {
                "install Python 3.9 or newer; `fathom doctor` shows what was tried".to_owned()
            }
            Self::Refused { .. } => {
                "let the interpreter be chosen, or run on a kernel with landlock and seccomp"
                    .to_owned()
            }
            Self::BaseFailed { .. } => {
                "try again; if it stays, run `fathom doctor` and report what it shows".to_owned()
            }
            Self::BadMaterial { .. } => {
                "repair what is named, or copy the file to a name that ends in `.txt`: then it is text"
                    .to_owned()
            }
            Self::MaterialTooLarge { .. } => "give the part that matters".to_owned(),
            Self::Busy => "wait for the cell to end".to_owned(),
            Self::NotOpen { .. } => "answer each question once, while its cell runs".to_owned(),
            Self::NotAllowed { .. } => {
                "list the program by its whole path in the charter, and give it fewer arguments"
                    .to_owned()
            }
            Self::NotConfined { .. } => {
                "check that the program is there, and that the kernel has landlock and seccomp"
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
