//! The runtime: a home folder, its journal, and the runs that this process works on.

mod fork;
mod root_program;
pub(crate) mod run_handle;
mod run_lock;
mod run_queries;
pub(crate) mod run_reader;

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use fathom_core::budget::amounts::Budget;
use fathom_core::contract::{AgentRole, Contract};
use fathom_core::episode::program::ProgramFactory;
use fathom_core::id::{EpisodeId, Epoch, RunId};
use fathom_core::journal::event::{EpisodeOrigin, EpisodeSpec, JournalRecord, ProgramSpec, Signal};
use fathom_core::model::{ModelRole, ModelSet};
use fathom_core::packet::PacketFrame;
use fathom_core::run::Run;
use fathom_core::run::step::{HostStep, RecordLog};
use fathom_core::text::Text;
use fathom_models::CallLimiter;
use fathom_output::redact::TextRedactor;
use fathom_programs::BuiltInPrograms;
use fathom_sandbox::{Sandbox, SandboxContext};
use fathom_store::{HomeFolder, Journal, RunFilter, RunLock, RunQuery};
use tokio::sync::{Notify, mpsc, watch};
use uuid::Uuid;

use crate::channels::{ChannelOutlets, DiscordTarget};
use crate::clock::{Clock, SystemClock};
use crate::config::CONCURRENCY;
use crate::domains::{DomainStores, SymbolStoreLocation};
use crate::driver::sandbox_sessions::{ContextLoader, SandboxSessions};
use crate::driver::session_history::SessionHistories;
use crate::driver::{DriverState, INBOX_MAX, RunDriver};
use crate::effects::port::{EffectPort, GuardedPort};
use crate::error::HostError;
use crate::programs::ProgramRegistry;

use crate::driver::answer_cache::AnswerCache;
use crate::driver::recorder::RecordWriter;
use crate::effects::run_gateway::GatewayCache;
use crate::governance::identity::{ResumeMode, TrustConfig};
use crate::governance::people::{ApproverRoster, OsUser};
use crate::models::embedded::EmbeddedModels;
use crate::models::run_models::RunModels;
use crate::runtime::root_program::RootProgram;
use crate::runtime::run_handle::RunHandle;
use crate::runtime::run_reader::{ReplayReport, RunReader};
use crate::view::run::{RecordRef, RunView};

/// What a runtime is opened with.
#[derive(Clone)]
pub struct RuntimeOptions {
    /// The home folder.
    pub home: PathBuf,
    /// File for signed heads; in the home folder when not said.
    pub heads: Option<PathBuf>,
    /// Looks up an environment variable, for API keys.
    pub read_env: fn(&str) -> Option<String>,
    /// Calls of one run in flight at once.
    pub concurrency: u32,
    /// Makes programs.
    pub programs: Arc<dyn ProgramFactory>,
    /// Prepares runs of them. One that is missing here can still be started by who fills in a [`NewRun`].
    pub setups: ProgramRegistry,
    /// The door to the outside; each run's own charter where none is given.
    pub effects: Option<Arc<dyn EffectPort>>,
    /// What runs in this process.
    pub embedded: Arc<EmbeddedModels>,
    /// Where code that a model wrote runs.
    pub sandbox: Sandbox,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Where the symbols are.
    pub symbols: SymbolStoreLocation,
    /// Who may decide what; without it the owner of the home decides everything.
    pub people: Option<ApproverRoster>,
    /// The channel on Discord, where there is one.
    pub discord: Option<DiscordTarget>,
    /// The filters of what goes to channels; the built-in ones where none are given.
    pub filter: Option<TextRedactor>,
    /// Whose signature of an identity counts.
    pub identity: TrustConfig,
}

impl RuntimeOptions {
    /// The usual choices for a home folder.
    pub fn new(home: PathBuf, read_env: fn(&str) -> Option<String>) -> Self {
        Self {
            embedded: Arc::new(EmbeddedModels::new(home.join("models"))),
            home,
            heads: None,
            read_env,
            concurrency: CONCURRENCY,
            programs: Arc::new(BuiltInPrograms),
            setups: ProgramRegistry::built_in(),
            effects: None,
            sandbox: Sandbox::new(fathom_sandbox::SandboxOptions::default()),
            clock: Arc::new(SystemClock::new()),
            symbols: SymbolStoreLocation::default(),
            people: None,
            discord: None,
            filter: None,
            identity: TrustConfig::default(),
        }
    }
}

impl fmt::Debug for RuntimeOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("home", &self.home)
            .field("heads", &self.heads)
            .field("concurrency", &self.concurrency)
            .finish_non_exhaustive()
    }
}

/// What a new run is to do.
#[derive(Clone, Debug)]
pub struct NewRun {
    /// What it is to reach.
    pub goal: Text,
    /// How.
    pub program: ProgramSpec,
    /// What it may do.
    pub contract: Contract,
    /// What it may use.
    pub budget: Budget,
    /// Its models.
    pub models: ModelSet,
    /// What its packets are framed with.
    pub frame: PacketFrame,
}

/// A home folder, its journal, and what is needed to work on its runs. Clones share all of it.
#[derive(Clone)]
pub struct Runtime {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) options: RuntimeOptions,
    pub(crate) home: HomeFolder,
    pub(crate) journal: Arc<dyn Journal>,
    memory: Option<Arc<AnswerCache>>,
    domains: Arc<DomainStores>,
    port: Arc<dyn EffectPort>,
    pub(crate) gates: Arc<GatewayCache>,
}

impl Runtime {
    /// Opens a home folder, making it when it is not there.
    pub fn open(options: RuntimeOptions) -> Result<Self, HostError> {
        let mut home = HomeFolder::open(&options.home)?;
        if let Some(heads) = &options.heads {
            home = home.with_heads(heads);
        }
        let journal: Arc<dyn Journal> = Arc::new(home.open_journal()?);
        // Without earlier answers a run only costs more.
        let memory = AnswerCache::open(&home, &journal, &options.embedded)
            .inspect_err(|error| tracing::warn!(%error, "cannot open the store of earlier answers"))
            .ok();
        let domains = Arc::new(DomainStores::new(
            home.clone(),
            Arc::clone(&journal),
            options.symbols.clone(),
            Arc::clone(&options.embedded),
            ChannelOutlets::new(&home, &journal, &options),
        ));
        let gates = Arc::new(GatewayCache {
            home: home.clone(),
            journal: Arc::clone(&journal),
            clock: Arc::clone(&options.clock),
            domains: Arc::clone(&domains),
            read_env: options.read_env,
            worker: options.sandbox.worker().cloned(),
            kept: Mutex::default(),
        });
        let port = options.effects.clone();
        let port = port.unwrap_or_else(|| Arc::clone(&gates) as Arc<dyn EffectPort>);
        Ok(Self {
            inner: Arc::new(Inner {
                port,
                gates,
                domains,
                options,
                home,
                journal,
                memory: memory.map(Arc::new),
            }),
        })
    }

    /// The home folder.
    pub fn home(&self) -> &HomeFolder {
        &self.inner.home
    }

    /// What runs in this process.
    pub fn embedded(&self) -> &EmbeddedModels {
        &self.inner.options.embedded
    }

    /// Where code that a model wrote runs.
    pub fn sandbox(&self) -> &Sandbox {
        &self.inner.options.sandbox
    }

    /// What outlives runs: symbols and histories.
    pub fn domains(&self) -> &DomainStores {
        &self.inner.domains
    }

    pub(crate) fn now(&self) -> fathom_core::unit::Timestamp {
        self.inner.options.clock.now()
    }

    /// Begins a run.
    pub fn start(&self, new: NewRun) -> Result<RunHandle, HostError> {
        self.start_on(new, ContextLoader::later(Vec::new()))
    }

    /// Begins a run whose code works on this context.
    pub fn start_in(&self, new: NewRun, context: SandboxContext) -> Result<RunHandle, HostError> {
        self.start_on(new, ContextLoader::loaded(context))
    }

    fn start_on(&self, new: NewRun, given: ContextLoader) -> Result<RunHandle, HostError> {
        // A program that cannot be made is a mistake of the caller's, better told before anything is written.
        let programs = RootProgram::build(&self.inner.options.programs, &new.program)?;
        self.admit(&new.frame)?;
        let started = EpisodeSpec {
            goal: new.goal,
            role: AgentRole::Orchestrator,
            program: new.program,
            contract: new.contract,
            budget: new.budget,
            depth: 0,
            model: ModelRole::Main,
            models: new.models,
            frame: new.frame,
            sources: Vec::new(),
            origin: EpisodeOrigin::Asked,
        };
        let models = self.connect(&started.models)?;
        let (run, lock, epoch) = self.create(&started)?;
        let recorder = self.recorder(run, epoch)?;
        let tree = Run::new(epoch, Arc::new(programs));
        let cells = self.cells(given, SessionHistories::default());
        let owned = (run, lock, recorder);
        let root = Arc::new(started.clone());
        Ok(
            self.drive(owned, root, tree, models, cells, |tree, log, at| {
                tree.start(log, at, started)
            }),
        )
    }

    /// Takes over an unfinished run that nobody works on, if it still has the identity that it began with.
    pub fn resume(&self, run: RunId) -> Result<RunHandle, HostError> {
        self.take_over(run, ResumeMode::On)
    }

    fn take_over(&self, run: RunId, going: ResumeMode) -> Result<RunHandle, HostError> {
        let info = self.info(run)?;
        if info.state.is_finished() {
            return Err(HostError::Finished { run });
        }
        let lock = self.lock(run)?;
        let reading = self.read(run)?;
        let started = reading.started().ok_or(HostError::NoSuchRun {
            prefix: run.to_string(),
        })?;
        self.readmit(run, started, going)?;
        let (models, given) = match going {
            ResumeMode::On => (
                self.connect(&started.models)?,
                ContextLoader::later(self.inner.options.setups.reread(&started.program)?),
            ),
            // No model is asked and no code runs any more: what went away meanwhile must not keep a run from its end.
            ResumeMode::ToItsEnd => (RunModels::unasked(&started.models), ContextLoader::gone()),
        };
        let epoch = self.inner.journal.acquire(run)?;
        let tree = reading.refold_exactly(epoch, &self.inner.options.programs)?;
        if tree.result().is_some() {
            return Err(HostError::Finished { run });
        }
        let root = Arc::new(started.clone());
        let story = reading.story();
        let records = reading.records.iter();
        let notebooks = SessionHistories::read(records.map(|read| (&read.episode, &read.record)));
        let cells = self.cells(given, notebooks);
        let recorder = self.recorder(run, epoch)?.continuing(reading.chains, story);
        let owned = (run, lock, recorder);
        Ok(
            self.drive(owned, root, tree, models, cells, |tree, log, at| {
                tree.resume(log, at)
            }),
        )
    }

    /// Begins a run that goes on from a record of another.
    pub fn fork(&self, run: RunId, at: &RecordRef) -> Result<RunHandle, HostError> {
        let reading = self.read(run)?;
        if !reading.is_open {
            return Err(HostError::Shredded { run });
        }
        let started = reading.started().cloned().ok_or(HostError::NoSuchPlace {
            run,
            place: at.clone(),
        })?;
        self.readmit(run, &started, ResumeMode::On)?;
        let models = self.connect(&started.models)?;
        let given = ContextLoader::later(self.inner.options.setups.reread(&started.program)?);
        let taken = fork::taken_over(reading, at)?;
        let records = taken.iter();
        let notebooks = SessionHistories::read(records.map(|read| (&read.episode, &read.record)));
        let (fork, lock, epoch) = self.create(&started)?;
        let mut recorder = self.recorder(fork, epoch)?;
        let mut tree = Run::new(epoch, Arc::clone(&self.inner.options.programs));
        for mut read in taken {
            read.record.epoch = epoch;
            let appended = recorder.append(&read.episode, read.record.clone());
            let differs = tree.refold(&read.episode, &read.record, appended.head);
            if differs.is_some() {
                return Err(HostError::Differs { run, count: 1 });
            }
        }
        let cells = self.cells(given, notebooks);
        let owned = (fork, lock, recorder);
        let root = Arc::new(started);
        Ok(
            self.drive(owned, root, tree, models, cells, |tree, log, at| {
                tree.resume(log, at)
            }),
        )
    }

    /// Unfinished runs that nobody works on.
    pub fn unfinished(&self) -> Result<Vec<RunId>, HostError> {
        let query = RunQuery {
            limit: RunQuery::LIMIT_MAX,
            filter: RunFilter::Unfinished,
        };
        let runs = self.inner.journal.list_runs(&query)?;
        // One that was killed before its first record was durable has nothing to go on with.
        let begun = runs.into_iter().filter(|info| info.events > 0);
        let runs = begun.map(|info| info.run);
        Ok(runs.filter(|run| !self.is_owned(*run)).collect())
    }

    /// Whether a process works on the run.
    pub fn is_owned(&self, run: RunId) -> bool {
        !matches!(self.try_lock(run), Ok(Some(_)))
    }

    /// Folds a run's journal again and compares.
    pub fn replay(&self, run: RunId) -> Result<ReplayReport, HostError> {
        let reading = self.read(run)?;
        let (_, differences) = reading.refold(Epoch(0), &self.inner.options.programs)?;
        Ok(ReplayReport {
            events: reading.records.len() as u64,
            differences,
            model_calls: 0,
        })
    }

    /// A run as people look at it.
    pub fn story(&self, run: RunId) -> Result<RunView, HostError> {
        Ok(self.read(run)?.story())
    }

    /// A run's records, opened as far as its key is there.
    pub fn records(&self, run: RunId) -> Result<Vec<(EpisodeId, JournalRecord)>, HostError> {
        let records = self.read(run)?.records.into_iter();
        Ok(records.map(|read| (read.episode, read.record)).collect())
    }

    /// Leaves a signal for whoever works on the run.
    pub fn signal(&self, run: RunId, signal: &Signal) -> Result<(), HostError> {
        Ok(self.inner.journal.post_signal(run, signal).map(drop)?)
    }

    /// Asks for the end of a run. Its owner hears it at once; a run without one is taken over to end it.
    pub fn cancel(&self, run: RunId) -> Result<Option<RunHandle>, HostError> {
        if self.info(run)?.state.is_finished() {
            return Err(HostError::Finished { run });
        }
        self.signal(run, &Signal::Cancel)?;
        match self.take_over(run, ResumeMode::ToItsEnd) {
            Ok(handle) => Ok(Some(handle)),
            Err(HostError::Owned { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Destroys the key of a run's content. Its chain stays and can be verified.
    pub fn shred(&self, run: RunId) -> Result<(), HostError> {
        self.info(run)?;
        self.inner.home.shred(run)?;
        Ok(())
    }

    fn read(&self, run: RunId) -> Result<RunReader, HostError> {
        self.info(run)?;
        RunReader::of(&*self.inner.journal, &self.inner.home, run)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the host is where the ids of runs are drawn"
    )]
    fn create(&self, started: &EpisodeSpec) -> Result<(RunId, RunLock, Epoch), HostError> {
        let run = RunId::new(Uuid::now_v7());
        let lock = self.lock(run)?;
        self.inner.home.keys().create_run_key(run)?;
        let epoch = self.inner.journal.create_run(&fathom_store::NewRun {
            run,
            program: started.program.name.clone(),
            model: started.models.main.id.clone(),
            created_at: self.now(),
            started_by: OsUser::current().to_string(),
        })?;
        Ok((run, lock, epoch))
    }

    fn recorder(&self, run: RunId, epoch: Epoch) -> Result<RecordWriter, HostError> {
        let sealer = self.inner.home.keys().sealer(run)?;
        let sealer = sealer.ok_or(HostError::Shredded { run })?;
        let log = self.inner.journal.open_log(run, epoch)?;
        Ok(RecordWriter::new(run, sealer, log))
    }

    pub(crate) fn connect(&self, models: &ModelSet) -> Result<RunModels, HostError> {
        let RuntimeOptions {
            embedded, read_env, ..
        } = &self.inner.options;
        RunModels::connect(models, embedded, *read_env)
    }

    fn cells(&self, given: ContextLoader, notebooks: SessionHistories) -> SandboxSessions {
        SandboxSessions::new(self.sandbox().clone(), given, notebooks)
    }

    fn drive(
        &self,
        (run, lock, mut recorder): (RunId, RunLock, RecordWriter),
        root: Arc<EpisodeSpec>,
        mut tree: Run,
        models: RunModels,
        cells: SandboxSessions,
        begin: impl FnOnce(&mut Run, &mut RecordWriter, fathom_core::unit::Timestamp) -> Vec<HostStep>,
    ) -> RunHandle {
        let RuntimeOptions {
            concurrency,
            clock,
            embedded,
            ..
        } = &self.inner.options;
        let first = begin(&mut tree, &mut recorder, clock.now());
        let (events, inbox) = mpsc::channel(INBOX_MAX);
        let (shown, watch) = watch::channel(recorder.story.clone());
        let interrupt = Arc::new(Notify::new());
        let driver = RunDriver {
            id: run,
            root,
            run: tree,
            recorder,
            journal: Arc::clone(&self.inner.journal),
            models,
            embedded: Arc::clone(embedded),
            memory: self.inner.memory.clone(),
            limiter: Arc::new(CallLimiter::new(*concurrency as usize)),
            clock: Arc::clone(clock),
            passage: GuardedPort {
                journal: Arc::clone(&self.inner.journal),
                port: Arc::clone(&self.inner.port),
            },
            cells,
            domains: Arc::clone(&self.inner.domains),
            interrupt: Arc::clone(&interrupt),
            shown,
            lock,
            events,
            inbox,
            state: DriverState::default(),
        };
        RunHandle {
            run,
            interrupt,
            shown: watch,
            driver: tokio::spawn(driver.drive(first)),
        }
    }
}
