//! A run at work, as whoever started it holds it.

use std::sync::Arc;

use fathom_core::id::RunId;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

use crate::driver::RunEnd;
use crate::view::run::RunView;

/// A run that this process works on.
pub struct RunHandle {
    pub(crate) run: RunId,
    pub(crate) interrupt: Arc<Notify>,
    pub(crate) shown: watch::Receiver<RunView>,
    pub(crate) driver: JoinHandle<RunEnd>,
}

impl RunHandle {
    /// The run.
    pub fn run(&self) -> RunId {
        self.run
    }

    /// Lets go of the run; it can be resumed.
    pub fn interrupt(&self) {
        self.interrupt.notify_one();
    }

    /// Something to interrupt the run with while its end is awaited.
    pub fn interrupter(&self) -> Arc<Notify> {
        Arc::clone(&self.interrupt)
    }

    /// How far it is, some twenty times a second.
    pub fn watch(&self) -> watch::Receiver<RunView> {
        self.shown.clone()
    }

    /// Waits until it ends or is let go.
    pub async fn end(self) -> RunEnd {
        match self.driver.await {
            Ok(end) => end,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => RunEnd::Interrupted,
            },
        }
    }
}
