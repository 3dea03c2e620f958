//! An open home: its runs, and the decisions that they wait for.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fathom_core::id::RunId;
use fathom_host::config::{HostConfig, PartialBudget};
use fathom_host::governance::people::{ApprovalDecision, ApprovalView, Approver, OsUser};
use fathom_host::view::run::{RecordRef, RunView};
use fathom_host::{ReplayReport, Runtime};
use fathom_store::{ApprovalAnswer, ApprovalFilter, ApprovalRecord, RunInfo, Verification};

use crate::builder::FathomBuilder;
use crate::error::FathomError;
use crate::model_choice::ModelChoice;
use crate::request::{
    AskOptions, CouncilOptions, ExploreOptions, PhasesOptions, RunRequest, ThinkOptions,
};
use crate::run::StartedRun;

/// An open home folder: its journal, its keys, and the runs that this process works on.
///
/// Clones are cheap and share everything. Runs are driven by tasks, so whatever starts one must be called inside a Tokio
/// runtime with time and IO enabled. Several processes may have the same home open; each run has one owner.
#[derive(Clone)]
pub struct Fathom {
    runtime: Runtime,
    defaults: Arc<HomeDefaults>,
}

/// Settings of a home that a request may override.
pub(crate) struct HomeDefaults {
    pub(crate) folder: PathBuf,
    pub(crate) config: HostConfig,
    pub(crate) budget: PartialBudget,
    pub(crate) model: Option<ModelChoice>,
    pub(crate) sub_model: Option<ModelChoice>,
}

impl std::fmt::Debug for Fathom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fathom")
            .field("home", &self.defaults.folder)
            .finish_non_exhaustive()
    }
}

impl Fathom {
    /// Opens a home with the usual settings, creating it if it does not exist.
    pub fn open(home: impl Into<PathBuf>) -> Result<Self, FathomError> {
        Self::builder().home(home).open()
    }

    /// Begins to open a home with settings of one's own.
    pub fn builder() -> FathomBuilder {
        FathomBuilder::default()
    }

    pub(crate) fn new(runtime: Runtime, defaults: HomeDefaults) -> Self {
        Self {
            runtime,
            defaults: Arc::new(defaults),
        }
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    pub(crate) fn defaults(&self) -> &HomeDefaults {
        &self.defaults
    }

    /// The home folder.
    pub fn home(&self) -> &Path {
        &self.defaults.folder
    }

    /// Asks one question. The charter's router decides which program answers it: a single call, a loop with tools, or a
    /// council.
    pub fn ask(&self, question: impl Into<String>) -> RunRequest<AskOptions> {
        RunRequest::new(self, question.into())
    }

    /// Puts a question to a council, which votes on it.
    pub fn council(&self, question: impl Into<String>) -> RunRequest<CouncilOptions> {
        RunRequest::new(self, question.into())
    }

    /// Asks a question about material of any size. The model writes code that looks at it, and the code runs in a sandbox.
    pub fn explore(&self, question: impl Into<String>) -> RunRequest<ExploreOptions> {
        RunRequest::new(self, question.into())
    }

    /// Has a question thought through in the phases of a charter.
    pub fn phases(&self, question: impl Into<String>) -> RunRequest<PhasesOptions> {
        RunRequest::new(self, question.into())
    }

    /// Has a task thought through in stages, with an observer who reads along.
    pub fn think(&self, task: impl Into<String>) -> RunRequest<ThinkOptions> {
        RunRequest::new(self, task.into())
    }

    /// Lists runs, newest first.
    pub fn runs(&self, limit: usize) -> Result<Vec<RunInfo>, FathomError> {
        Ok(self.runtime.runs(limit)?)
    }

    /// Lists unfinished runs that no process works on.
    pub fn unfinished(&self) -> Result<Vec<RunId>, FathomError> {
        Ok(self.runtime.unfinished()?)
    }

    /// Finds the one run whose id begins with `prefix`.
    pub fn find(&self, prefix: &str) -> Result<RunId, FathomError> {
        Ok(self.runtime.find(prefix.trim())?)
    }

    /// Reads a run back from its journal: its tree of episodes, what they used, and the result of each.
    pub fn show(&self, run: RunId) -> Result<RunView, FathomError> {
        Ok(self.runtime.story(run)?)
    }

    /// Continues an unfinished run that no process works on. Answered calls are not repeated, and no effect is sent twice.
    pub fn resume(&self, run: RunId) -> Result<StartedRun, FathomError> {
        let handle = self.runtime.resume(run)?;
        Ok(StartedRun::new(self, handle, Vec::new()))
    }

    /// Cancels a run and keeps what it has.
    ///
    /// Where another owner works on the run, that owner is told, and the result is `None`: [`Fathom::show`] says later how
    /// it ended. Otherwise the run is taken over to end it, and the handle waits for that.
    pub fn cancel(&self, run: RunId) -> Result<Option<StartedRun>, FathomError> {
        let taken = self.runtime.cancel(run)?;
        Ok(taken.map(|handle| StartedRun::new(self, handle, Vec::new())))
    }

    /// Starts a new run that takes over the records of another up to `at`.
    pub fn fork(&self, run: RunId, at: &RecordRef) -> Result<StartedRun, FathomError> {
        let handle = self.runtime.fork(run, at)?;
        Ok(StartedRun::new(self, handle, Vec::new()))
    }

    /// Folds a run's journal again, without a model, and compares each record with what it says.
    pub fn replay(&self, run: RunId) -> Result<ReplayReport, FathomError> {
        Ok(self.runtime.replay(run)?)
    }

    /// Checks the hash chains, signed heads and sealed texts of one run.
    pub fn verify(&self, run: RunId) -> Result<Verification, FathomError> {
        Ok(self.runtime.verify(Some(run))?)
    }

    /// Checks the hash chains, signed heads and sealed texts of all runs.
    pub fn verify_all(&self) -> Result<Verification, FathomError> {
        Ok(self.runtime.verify(None)?)
    }

    /// Lists the effects that wait for a person's decision, oldest first.
    pub fn approvals(&self) -> Result<Vec<ApprovalView>, FathomError> {
        Ok(self.runtime.approvals(ApprovalFilter::Open)?)
    }

    /// Lists every approval that was ever asked for, oldest first.
    pub fn all_approvals(&self) -> Result<Vec<ApprovalView>, FathomError> {
        Ok(self.runtime.approvals(ApprovalFilter::All)?)
    }

    /// Approves an effect in the name of the operating-system user who runs this process. `id` may be shortened.
    ///
    /// The approval holds once, for these literal arguments, and only if the user has a role that may give it. The run
    /// continues with [`Fathom::resume`], unless its owner still works on it.
    pub fn approve(&self, id: &str, why: impl Into<String>) -> Result<ApprovalRecord, FathomError> {
        self.decide(id, ApprovalAnswer::Yes, why.into())
    }

    /// Denies an effect in the name of the operating-system user who runs this process. The run learns the decision when it
    /// continues.
    pub fn deny(&self, id: &str, why: impl Into<String>) -> Result<ApprovalRecord, FathomError> {
        self.decide(id, ApprovalAnswer::No, why.into())
    }

    fn decide(
        &self,
        id: &str,
        answer: ApprovalAnswer,
        why: String,
    ) -> Result<ApprovalRecord, FathomError> {
        let approval = self.runtime.find_approval(id)?;
        let decision = ApprovalDecision {
            answer,
            person: Approver::OsUser(OsUser::current()),
            why,
        };
        Ok(self.runtime.decide(&approval, &decision)?)
    }
}
