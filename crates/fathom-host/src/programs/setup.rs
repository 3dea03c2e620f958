//! How a run of a program is prepared, for every program in the same way: a request goes in, a run that can be started
//! comes out.

use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;

use fathom_core::budget::amounts::Budget;
use fathom_core::contract::Contract;
use fathom_core::episode::program::ProgramError;
use fathom_core::journal::event::ProgramSpec;
use fathom_core::model::{ModelSet, ModelSpec};
use fathom_core::text::Text;
use fathom_material::{MaterialDocument, SkippedFile};
use fathom_sandbox::{SandboxContext, SandboxMaterial};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::charter::{self, Charter, Finding};
use crate::config::{BUDGET, default_policy};
use crate::error::HostError;
use crate::models::embedded::{ChosenWeights, PROVIDER};
use crate::runtime::run_handle::RunHandle;
use crate::runtime::{NewRun, Runtime};
use crate::view::run::{EpisodeView, RunView};

/// A run that is being prepared.
pub type PrepareFuture<'a> =
    Pin<Box<dyn Future<Output = Result<PreparedRun, HostError>> + Send + 'a>>;

/// The keys of a result beside those that every program's result has, in their order.
pub type ResultKeys = Map<String, Value>;

/// What the host knows of a program: everything about it that is not the state machine itself.
///
/// The state machine is made by a [`ProgramFactory`](fathom_core::episode::program::ProgramFactory) and is pure, so that it
/// can be replayed. What needs files, models or other machinery happens here, once, before the run starts.
pub trait ProgramSetup: Send + Sync {
    /// The program's name, as the journal has it.
    fn name(&self) -> &str;

    /// The charter of a run for which none is named.
    fn default_charter(&self) -> &str {
        charter::DEFAULT
    }

    /// The table of `charter.toml` that is about this program.
    fn charter_section(&self) -> Option<&str> {
        None
    }

    /// Prepares a run. The models are the charter's already, with their weights chosen.
    fn prepare<'a>(&'a self, runtime: &'a Runtime, request: RunRequest<'a>) -> PrepareFuture<'a>;

    /// What the result says beyond the usual. A program has always the same keys, also while its run is not over.
    fn result(&self, _: &ResultSource<'_>) -> ResultKeys {
        ResultKeys::new()
    }

    /// The material of a run that is gone on with, where code of the model works on some.
    fn reread(&self, _: &ProgramSpec) -> Result<Vec<SandboxMaterial>, HostError> {
        Ok(Vec::new())
    }
}

/// What a run is to look at.
#[derive(Clone, Debug, Default)]
pub struct RunContext {
    /// Files and folders.
    pub paths: Vec<PathBuf>,
    /// A text without a file.
    pub text: Option<MaterialDocument>,
}

/// What is wanted of a program.
pub struct RunRequest<'a> {
    /// The program's name.
    pub program: &'a str,
    /// What the run is to reach.
    pub goal: Text,
    /// Who speaks, and by which rules.
    pub charter: &'a Charter,
    /// Its models, before the charter puts its own in their roles.
    pub models: ModelSet,
    /// What it may do, before the program takes or adds what it needs.
    pub contract: Contract,
    /// What it may use.
    pub budget: Budget,
    /// What it is to look at.
    pub context: RunContext,
    /// The program's own options, as JSON: the requester may be another process. Each program has a type for them.
    pub options: Value,
    /// Hears how far the preparation is.
    pub progress: Option<Box<dyn FnMut(PrepareProgress) + Send + 'a>>,
}

impl<'a> RunRequest<'a> {
    /// A request with the limits of the charter, without context and options.
    pub fn new(
        program: &'a str,
        goal: impl Into<Text>,
        charter: &'a Charter,
        models: ModelSet,
    ) -> Self {
        Self {
            program,
            goal: goal.into(),
            charter,
            models,
            contract: Contract {
                recursion: charter.recursion.clone().unwrap_or_else(default_policy),
                ..Contract::default()
            },
            budget: charter.budget.over(BUDGET),
            context: RunContext::default(),
            options: Value::Null,
            progress: None,
        }
    }

    /// The same request with these options of its program.
    #[must_use]
    pub fn with_options(mut self, options: &impl Serialize) -> Self {
        // Options are structs of strings, numbers and JSON, which always have a JSON form.
        self.options = serde_json::to_value(options).unwrap_or_default();
        self
    }

    /// Takes out the options; none are the usual ones.
    pub fn take_options<O: DeserializeOwned + Default>(&mut self) -> Result<O, HostError> {
        match std::mem::take(&mut self.options) {
            Value::Null => Ok(O::default()),
            options => Ok(serde_json::from_value(options)
                .map_err(|error| ProgramError::params(self.program, error.to_string()))?),
        }
    }

    /// Says how far the preparation is.
    pub fn report(&mut self, progress: PrepareProgress) {
        if let Some(hears) = &mut self.progress {
            hears(progress);
        }
    }

    /// The run, with this program and this contract.
    pub fn into_run(self, program: ProgramSpec, contract: Contract) -> NewRun {
        NewRun {
            goal: self.goal,
            program,
            contract,
            budget: self.budget,
            models: self.models,
            frame: self.charter.frame(),
        }
    }
}

/// How far a preparation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrepareProgress {
    /// Passages of the material are read.
    Passages {
        /// So many are.
        done: usize,
        /// Of so many.
        total: usize,
    },
    /// Symbols of the charter are put into the store.
    Symbols {
        /// So many are.
        done: usize,
        /// Of so many.
        total: usize,
    },
}

/// A run that can be started.
pub struct PreparedRun {
    /// The program that was asked for. The run itself may be of a plainer one that does.
    pub requested: String,
    /// The run.
    pub new: NewRun,
    /// Material that only code looks at.
    pub context: Option<SandboxContext>,
    /// What a user should know of it.
    pub warnings: Vec<PrepareWarning>,
}

impl PreparedRun {
    /// A run of which there is nothing else to say.
    pub fn new(requested: impl Into<String>, new: NewRun) -> Self {
        Self {
            requested: requested.into(),
            new,
            context: None,
            warnings: Vec::new(),
        }
    }
}

/// What a user should know before a run starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrepareWarning {
    /// Something about the charter.
    Charter(Finding),
    /// Other weights are used than those that were named.
    OtherWeights(String),
    /// Material was left out, or read otherwise than it seems.
    Skipped(SkippedFile),
    /// The material was searched by words alone.
    WordsOnly(String),
}

impl fmt::Display for PrepareWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Charter(finding) => finding.fmt(f),
            Self::OtherWeights(why) => f.write_str(why),
            Self::Skipped(skipped) => skipped.fmt(f),
            Self::WordsOnly(why) => write!(
                f,
                "searching by keywords only: {why}; run `fathom models pull minilm` for semantic search"
            ),
        }
    }
}

/// What a result is made from.
#[derive(Clone, Copy)]
pub struct ResultSource<'a> {
    /// The run as people look at it.
    pub story: &'a RunView,
    /// Masks a text before it is cut or goes out.
    pub mask: &'a dyn Fn(&str) -> String,
}

impl<'a> ResultSource<'a> {
    /// The run's root.
    pub fn root(&self) -> Option<&'a EpisodeView> {
        self.story.root()
    }

    /// What the root left beside its answer, or the empty report; none where the root is of another program.
    pub fn report<R: DeserializeOwned + Default>(&self, program: &str) -> Option<R> {
        let root = self.root()?;
        (root.started.program.name == program).then(|| report(root).unwrap_or_default())
    }
}

/// What an episode left beside its answer; none while it is at work and where the content is gone.
pub(super) fn report<R: DeserializeOwned>(episode: &EpisodeView) -> Option<R> {
    let report = episode.result.as_ref()?.report.as_ref()?;
    serde_json::from_str(report.as_str()).ok()
}

/// The keys of a struct, in the order of its fields.
pub(super) fn keys(of: &impl Serialize) -> ResultKeys {
    match serde_json::to_value(of) {
        Ok(Value::Object(keys)) => keys,
        _ => ResultKeys::new(),
    }
}

impl Runtime {
    /// Prepares a run as its program does. It takes a while where there is material to read.
    pub async fn prepare(&self, mut request: RunRequest<'_>) -> Result<PreparedRun, HostError> {
        let setups = &self.inner.options.setups;
        let setup = setups
            .get(request.program)
            .ok_or_else(|| ProgramError::Unknown(request.program.to_owned()))?;
        let found = request.charter.warnings.iter().cloned();
        let mut warnings: Vec<PrepareWarning> = found.map(PrepareWarning::Charter).collect();
        request.models = request.charter.cast(request.models);
        warnings.extend(self.settle_weights(&mut request.models)?);
        let mut prepared = setup.prepare(self, request).await?;
        warnings.append(&mut prepared.warnings);
        prepared.warnings = warnings;
        Ok(prepared)
    }

    /// Begins a run that was prepared.
    pub fn start_prepared(&self, prepared: PreparedRun) -> Result<RunHandle, HostError> {
        match prepared.context {
            Some(context) => self.start_in(prepared.new, context),
            None => self.start(prepared.new),
        }
    }

    /// Puts the weights that are really used in the place of names like `local/default`, and says where they are not
    /// those that were wanted.
    pub fn settle_weights(&self, models: &mut ModelSet) -> Result<Vec<PrepareWarning>, HostError> {
        let mut warnings = Vec::new();
        let specs: [Option<&mut ModelSpec>; 5] = [
            Some(&mut models.main),
            Some(&mut models.sub),
            models.prime.as_mut(),
            models.lite.as_mut(),
            models.code_mind.as_mut(),
        ];
        for spec in specs.into_iter().flatten() {
            if spec.provider() != PROVIDER {
                continue;
            }
            let ChosenWeights { name, instead } = self.embedded().choose(spec.name())?;
            spec.id = format!("{PROVIDER}/{name}");
            if let Some(why) = instead.map(PrepareWarning::OtherWeights)
                && !warnings.contains(&why)
            {
                warnings.push(why);
            }
        }
        Ok(warnings)
    }
}
