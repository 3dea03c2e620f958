//! Runs that this process works on, and what comes of them.

use std::fmt;

use fathom_core::contract::stop::StopReason;
use fathom_core::episode::result::{BudgetUse, EpisodeResult, EpisodeStatus};
use fathom_core::id::RunId;
use fathom_core::run::step::RunWait;
use fathom_host::governance::people::ApprovalView;
use fathom_host::view::run::RunView;
use fathom_host::{RunEnd, RunHandle};

use crate::error::FathomError;
use crate::events::RunEvents;
use crate::home::Fathom;

/// A run that this process works on.
///
/// The run goes on whether or not anyone waits for it. Dropping this value does not end it; [`StartedRun::interrupt`] lets
/// go of it, and [`Fathom::cancel`] ends it.
pub struct StartedRun {
    fathom: Fathom,
    handle: RunHandle,
    warnings: Vec<String>,
}

impl fmt::Debug for StartedRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StartedRun")
            .field("run", &self.id())
            .finish_non_exhaustive()
    }
}

impl StartedRun {
    pub(crate) fn new(fathom: &Fathom, handle: RunHandle, warnings: Vec<String>) -> Self {
        Self {
            fathom: fathom.clone(),
            handle,
            warnings,
        }
    }

    /// The id under which the run is recorded.
    pub fn id(&self) -> RunId {
        self.handle.run()
    }

    /// Remarks on the material, the charter and the model, such as files that were left out.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The run as it stands now: its tree of episodes, and what they have used.
    pub fn view(&self) -> RunView {
        self.handle.watch().borrow().clone()
    }

    /// Streams the records of the run, from the first, each once it is durable. The stream ends with the run.
    pub fn events(&self) -> RunEvents {
        RunEvents::follow(self.fathom.clone(), self.id(), self.handle.watch())
    }

    /// Lets go of the run, which can be resumed later, by any process.
    pub fn interrupt(&self) {
        self.handle.interrupt();
    }

    /// Waits until the run ends, waits for a person, or is let go.
    pub async fn wait(self) -> Result<RunOutcome, FathomError> {
        let Self { fathom, handle, .. } = self;
        let run = handle.run();
        match handle.end().await {
            RunEnd::Finished(result) => Ok(RunOutcome::Finished(RunAnswer { run, result })),
            RunEnd::Waiting(RunWait::Approval) => {
                let mut asked = fathom.approvals()?;
                asked.retain(|view| view.approval.owner.run == run);
                Ok(RunOutcome::NeedsApproval { run, asked })
            }
            RunEnd::Waiting(RunWait::Outage(failure)) => Ok(RunOutcome::OutOfReach {
                run,
                failure: failure.to_string(),
            }),
            RunEnd::Interrupted => Ok(RunOutcome::Interrupted { run }),
            RunEnd::Failed(error) => Err(error.into()),
        }
    }

    /// Waits for the answer. A run that comes back without one is an error; so is one that waits for an approval.
    pub async fn answer(self) -> Result<RunAnswer, FathomError> {
        self.wait().await?.into_answer()
    }
}

/// The way in which a run came back.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RunOutcome {
    /// The run is over, and its record is durable.
    Finished(RunAnswer),
    /// An effect needs a decision; then the run can be resumed.
    NeedsApproval {
        /// Id of the run.
        run: RunId,
        /// The effects, with their literal arguments.
        asked: Vec<ApprovalView>,
    },
    /// A model cannot be reached; the run can be resumed.
    OutOfReach {
        /// Id of the run.
        run: RunId,
        /// The last failure.
        failure: String,
    },
    /// The run was let go; it can be resumed.
    Interrupted {
        /// Id of the run.
        run: RunId,
    },
}

impl RunOutcome {
    /// Id of the run.
    pub fn run(&self) -> RunId {
        match self {
            Self::Finished(answer) => answer.run,
            Self::NeedsApproval { run, .. }
            | Self::OutOfReach { run, .. }
            | Self::Interrupted { run } => *run,
        }
    }

    /// The answer of a finished run; everything else is an error.
    pub fn into_answer(self) -> Result<RunAnswer, FathomError> {
        match self {
            Self::Finished(answer) => Ok(answer),
            Self::NeedsApproval { run, .. } => Err(FathomError::AwaitingApproval { run }),
            Self::OutOfReach { run, failure } => Err(FathomError::OutOfReach { run, failure }),
            Self::Interrupted { run } => Err(FathomError::Interrupted { run }),
        }
    }
}

/// The result of a finished run.
///
/// A finished run need not have succeeded: [`RunAnswer::status`] says whether a person should look at it, and
/// [`RunAnswer::stop_reason`] why it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunAnswer {
    run: RunId,
    result: Box<EpisodeResult>,
}

impl RunAnswer {
    /// Id of the run.
    pub fn run(&self) -> RunId {
        self.run
    }

    /// The answer, or the part of it that there is. A council's answer is its decision in one line.
    pub fn text(&self) -> Option<&str> {
        let answer = self.result.answer.as_ref()?;
        (!answer.is_closed()).then(|| answer.as_str())
    }

    /// The status: fine, for a person to review, or failed.
    pub fn status(&self) -> EpisodeStatus {
        self.result.status
    }

    /// The reason why the run ended.
    pub fn stop_reason(&self) -> &StopReason {
        &self.result.stop_reason
    }

    /// A summary in three to eight lines.
    pub fn summary(&self) -> impl Iterator<Item = &str> {
        self.result.summary.lines()
    }

    /// The program's findings as JSON, in a form of its own: of a council its votes, of an exploration its cells.
    pub fn report(&self) -> Option<serde_json::Value> {
        let report = self.result.report.as_ref()?;
        serde_json::from_str(report.as_str()).ok()
    }

    /// The limits of the run, and the part that it used.
    pub fn budget(&self) -> BudgetUse {
        self.result.budget
    }
}
