//! The worker process of Monty, an interpreter of a part of Python that is built in.
//!
//! The host begins it with its socket as standard input and the sealed material as standard output; there is nothing else.
//! It locks itself in before it runs code. What it says then is as untrusted as what any worker says.

mod calls;
mod captured_output;
mod cells;
mod confine_program;
mod frame_io;
mod lockdown;
mod values;

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::process::ExitCode;

use fathom_core::sandbox::ValueFormat;
use monty_types::MontyObject;

use captured_output::OutputMeter;
use cells::WorkerSession;
use frame_io::{ToWorker, WorkerWire};
use lockdown::LockError;

use crate::material::MaterialPiece;

pub(crate) use confine_program::ConfineJob;
pub(crate) use frame_io::{BeginFrame, FirstFrame, GreetingFrame};
pub(crate) use lockdown::LockedDown;

/// The version of the interpreter, as its package has it.
pub(crate) const VERSION: &str = monty_types::MONTY_VERSION;

/// Runs cells until the host hangs up, or becomes a program that is confined.
pub fn main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn serve() -> io::Result<()> {
    let mut wire = WorkerWire::new(File::from(io::stdin().as_fd().try_clone_to_owned()?));
    let begin = match wire.receive()? {
        Some(FirstFrame::Begin(begin)) => begin,
        Some(FirstFrame::Confine(job)) => {
            let reason = confine_program::become_program(&job);
            return wire.send(&GreetingFrame::Refused { reason });
        }
        None => return Ok(()),
    };
    let meter = OutputMeter::open()?;
    let (locked, context) = match prepare(&begin, &meter) {
        Ok(ready) => ready,
        Err(error) => {
            let reason = error.to_string();
            return wire.send(&GreetingFrame::Refused { reason });
        }
    };
    wire.send(&GreetingFrame::Ready(locked))?;
    let mut session = WorkerSession::new(wire, context, begin.memory, meter)?;
    while let Some(frame) = session.receive()? {
        match frame {
            ToWorker::Cell(cell) => session.run(&cell)?,
            // Nobody waits for it any more.
            ToWorker::Answer { .. } => {}
        }
    }
    Ok(())
}

/// Material is read without a way to any file; then the last doors close.
#[expect(
    clippy::disallowed_methods,
    reason = "the material stands at the worker's stdout, which is read and never written"
)]
fn prepare(
    begin: &BeginFrame,
    meter: &OutputMeter,
) -> Result<(LockedDown, MontyObject), LockError> {
    let material = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    lockdown::end_with_host()?;
    let landlock = lockdown::deny_files()?;
    let context = read(&begin.pieces, &material)?;
    drop(material);
    // After the material was read, so that it does not count against the memory of cells.
    let seccomp = lockdown::lock_in(meter.begin(), begin.memory)?;
    let locked = LockedDown { landlock, seccomp };
    lockdown::verify(locked)?;
    Ok((locked, context))
}

/// One piece is the context itself; several stand in it by their names.
fn read(pieces: &[MaterialPiece], material: &File) -> io::Result<MontyObject> {
    let mut at = 0;
    let mut named = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let length = usize::try_from(piece.bytes).map_err(io::Error::other)?;
        let mut bytes = vec![0; length];
        material.read_exact_at(&mut bytes, at)?;
        at += piece.bytes;
        let text = String::from_utf8(bytes).map_err(io::Error::other)?;
        let value = match piece.form {
            ValueFormat::Text => MontyObject::String(text),
            ValueFormat::Json => values::from_json(&text)
                .map_err(|error| io::Error::other(format!("{}: {error}", piece.name)))?,
            ValueFormat::Lines => text
                .lines()
                .zip(1..)
                .filter(|(line, _)| !line.trim().is_empty())
                .map(|(line, number)| {
                    let told = |error| format!("{}: line {number}: {error}", piece.name);
                    values::from_json(line).map_err(|error| io::Error::other(told(error)))
                })
                .collect::<io::Result<Vec<_>>>()
                .map(MontyObject::List)?,
        };
        named.push((MontyObject::String(piece.name.clone()), value));
    }
    match <[_; 1]>::try_from(named) {
        Ok([(_, value)]) => Ok(value),
        Err(named) => Ok(MontyObject::dict(named)),
    }
}
