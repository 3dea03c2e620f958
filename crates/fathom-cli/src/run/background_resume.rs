//! Other unfinished runs, resumed in the background of the requested one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fathom_core::id::RunId;
use fathom_core::journal::event::ReleaseReason;
use fathom_core::unit::Timestamp;
use fathom_host::{RunHandle, Runtime};
use fathom_store::RunState;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::app::{App, short};
use crate::settings::{OtherRuns, Verbosity};
use crate::terminal::styled_line::StyledLine;
use crate::view::units::many;

/// Runs that are resumed beside another one; the rest waits for the next command.
// Enough for the leftovers of a crash, and few enough to leave cores for the command itself.
const RUNS_MAX: usize = 16;

/// Notes that may wait to be shown.
// A full queue drops further notes, and more than a screenful helps nobody.
const NOTES_MAX: usize = 32;

/// Runs that are resumed in the background.
pub(crate) struct BackgroundResume {
    work: Option<ResumeWork>,
    notes: mpsc::Receiver<StyledLine>,
}

struct ResumeWork {
    resuming: JoinHandle<Vec<RunHandle>>,
    is_enough: Arc<AtomicBool>,
}

impl BackgroundResume {
    /// Nothing.
    pub(crate) fn nothing() -> Self {
        let (_, notes) = mpsc::channel(1);
        Self { work: None, notes }
    }

    /// Resumes the runs without an owner, unless the user disabled it.
    pub(crate) fn begin(app: &App) -> Self {
        if app.settings.others == OtherRuns::LeftAlone {
            return Self::nothing();
        }
        let (sender, notes) = mpsc::channel(NOTES_MAX);
        let is_enough = Arc::new(AtomicBool::new(false));
        let resumer = RunResumer {
            runtime: app.runtime.clone(),
            began: app.now(),
            is_verbose: app.settings.loudness == Verbosity::Verbose,
            is_enough: Arc::clone(&is_enough),
            notes: sender,
        };
        Self {
            work: Some(ResumeWork {
                // Resuming folds whole journals, which would hold up the command on its only worker thread.
                resuming: tokio::task::spawn_blocking(move || resumer.resume()),
                is_enough,
            }),
            notes,
        }
    }

    /// The next thing worth saying; none when there will be no more.
    pub(crate) async fn note(&mut self) -> Option<StyledLine> {
        self.notes.recv().await
    }

    /// Lets go of everything; it stays resumable.
    pub(crate) async fn let_go(self) {
        let Some(work) = self.work else { return };
        work.is_enough.store(true, Ordering::Relaxed);
        // What happens to other runs is not this command's failure.
        let Ok(handles) = work.resuming.await else {
            return;
        };
        // All are interrupted before one is waited for, so that they end in parallel.
        handles.iter().for_each(RunHandle::interrupt);
        for handle in handles {
            let _ = tokio::spawn(handle.end()).await;
        }
    }
}

struct RunResumer {
    runtime: Runtime,
    began: Timestamp,
    is_verbose: bool,
    is_enough: Arc<AtomicBool>,
    notes: mpsc::Sender<StyledLine>,
}

impl RunResumer {
    fn resume(self) -> Vec<RunHandle> {
        let Ok(unfinished) = self.runtime.unfinished() else {
            return Vec::new();
        };
        let mut handles = Vec::new();
        for run in unfinished {
            if self.is_enough.load(Ordering::Relaxed) || handles.len() == RUNS_MAX {
                break;
            }
            // It would wait again at once; a person resumes it by deciding.
            if self.awaits_a_person(run) {
                continue;
            }
            match self.runtime.resume(run) {
                Ok(handle) => handles.push(handle),
                Err(error) if self.is_verbose => {
                    self.say(format!("cannot resume run {run}: {error}"));
                }
                Err(_) => {}
            }
        }
        if !handles.is_empty() {
            self.say(self.summary(&handles));
        }
        handles
    }

    fn summary(&self, handles: &[RunHandle]) -> String {
        const NAMED_MAX: usize = 3;
        let named = handles.iter().take(NAMED_MAX);
        let mut ids: Vec<String> = named
            .map(|handle| short(&self.runtime, handle.run(), self.began))
            .collect();
        if handles.len() > NAMED_MAX {
            ids.push(format!("{} more", handles.len() - NAMED_MAX));
        }
        let runs = many(handles.len() as u64, "unfinished run", "unfinished runs");
        format!("{runs} resumed in the background: {}", ids.join(", "))
    }

    /// A run that needs a decision would only stop again.
    fn awaits_a_person(&self, run: RunId) -> bool {
        let info = self.runtime.info(run);
        info.is_ok_and(|info| info.state == RunState::Released(ReleaseReason::AwaitingApproval))
    }

    fn say(&self, text: String) {
        // A full queue means that nobody looks.
        let _ = self.notes.try_send(StyledLine::from(text));
    }
}
