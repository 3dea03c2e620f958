//! Runs code that a model wrote, in processes that can do nothing but compute and ask.
//!
//! A [`Sandbox`] loads material into a [`SandboxContext`] once. Any number of [`SandboxSession`]s begin with it, side by side and without a
//! copy each. A session runs cells of Python that share their variables; what a cell asks ([`CellEvent::Asked`]) is answered from
//! outside, and its end ([`CellEvent::Ended`]) says what it printed, submitted, and what stopped it.
//!
//! # What holds
//!
//! Code may be hostile, and an interpreter is no boundary: whoever breaks out of it runs machine code in the worker. There the
//! kernel holds: landlock denies every file and port, a filter denies every system call that computing does not need, the
//! address space is limited, and the host ends the process at its time limit. What a worker says is untrusted: frames have
//! limits and types, and whatever does not fit them ends the session, with a reason.
//!
//! Processes are forked: the base process loads the standard library and locks itself in, a template is forked from it for
//! material of a megabyte and more, and a session is forked from there. A session is given back by running its cells again
//! with the answers they got: clock, hashes and random numbers are the same each time.

mod active_timer;
mod cell_dialogue;
mod cell_progress;
mod clock;
pub mod confined_program;
mod cpython;
mod error;
mod frame_io;
pub mod frames;
mod interpreter;
mod material;
mod monty;
mod options;
mod pool;
mod question_log;
mod sandbox;
mod session;
mod session_task;
mod syscall_filter;
pub mod worker;

pub use error::SandboxError;
pub use material::{MATERIAL_BYTES_MAX, MaterialContent, SandboxMaterial};
pub use options::{
    InterpreterChoice, InterpreterKind, Isolation, PROCESSES_MAX, SandboxOptions, WorkerCommand,
};
pub use question_log::{PastCell, RecordedQuestion};
pub use sandbox::{Sandbox, SandboxContext};
pub use session::{CellEvent, SandboxSession, SessionCell};
