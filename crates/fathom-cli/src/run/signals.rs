//! Ctrl-C and its like.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::CliError;
use crate::exit_code::ExitStatus;
use crate::terminal::output;

/// Waits for SIGINT and SIGTERM.
pub(crate) struct InterruptSignals {
    interrupt: Signal,
    terminate: Signal,
    heard: u32,
}

/// Meaning of a signal: the first asks for an orderly end, the second forces one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interrupt {
    /// Release the runs in good order.
    LetGo,
    /// Leave at once.
    Leave,
}

impl InterruptSignals {
    /// Begins to listen.
    pub(crate) fn listen() -> Result<Self, CliError> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt()).map_err(CliError::Setup)?,
            // Service managers send this one; it means the same.
            terminate: signal(SignalKind::terminate()).map_err(CliError::Setup)?,
            heard: 0,
        })
    }

    /// The next signal.
    pub(crate) async fn next(&mut self) -> Interrupt {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
        self.heard += 1;
        if self.heard == 1 {
            Interrupt::LetGo
        } else {
            Interrupt::Leave
        }
    }
}

/// Ends the process without another word: the journal takes any end.
#[expect(
    clippy::disallowed_methods,
    reason = "a second Ctrl-C must work even when letting go hangs; a killed run is resumable"
)]
pub(crate) fn leave() -> ! {
    // `exit` runs no destructors, so a hidden cursor would stay hidden.
    output::show_cursor();
    std::process::exit(i32::from(ExitStatus::Interrupted.code()))
}
